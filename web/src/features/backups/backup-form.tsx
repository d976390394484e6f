import {
  BackupCron,
  BackupPassphrase,
  type BackupSettings,
  type BackupSettingsBody,
  BackupTimezone,
  putBackupSettings,
} from '@roost/contracts/operations/scheduled-backups'
import { useWatch } from 'react-hook-form'
import { z } from 'zod'
import { storeReply } from '../../live/store-reply.ts'
import { useApp } from '../../shell/app-context.ts'
import {
  Form,
  FormError,
  NumberField,
  SwitchField,
  TextareaField,
  TextField,
  useZodForm,
} from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { toast } from '../../ui/toast.tsx'
import { CronFields } from '../schedules/cron-fields.tsx'
import { backupsKey } from './queries.ts'

const Count = z.number('Enter a number.').int().min(0).max(9999)
/** Empty secrets keep the stored ones. */
const BackupFields = z.object({
  enabled: z.boolean(),
  repository: z.string().trim().max(1000),
  passphrase: z.literal('').or(BackupPassphrase),
  s3: z.object({ access_key_id: z.string(), secret_access_key: z.string(), region: z.string() }),
  sftp: z.object({ private_key: z.string(), known_hosts: z.string() }),
  cron_expression: BackupCron,
  timezone: BackupTimezone,
  verifies: z.boolean(),
  verify_cron_expression: BackupCron,
  removes_old: z.boolean(),
  retention: z.object({ daily: Count, weekly: Count, monthly: Count }),
})
type BackupFields = z.output<typeof BackupFields>

const noSecrets = {
  passphrase: '',
  s3: { access_key_id: '', secret_access_key: '', region: '' },
  sftp: { private_key: '', known_hosts: '' },
}
const defaultVerification = '0 5 * * SUN'
const defaultRetention = { daily: 7, weekly: 4, monthly: 12 }

export function BackupForm({ settings }: { settings: BackupSettings }) {
  const { api, queries } = useApp()
  const form = useZodForm(BackupFields, {
    values: {
      ...noSecrets,
      enabled: settings.enabled,
      repository: settings.repository ?? '',
      cron_expression: settings.cron_expression,
      timezone: settings.timezone,
      verifies: settings.verify_cron_expression !== null,
      verify_cron_expression: settings.verify_cron_expression ?? defaultVerification,
      removes_old: settings.retention !== null,
      retention: settings.retention ?? defaultRetention,
    },
  })
  async function save(values: BackupFields): Promise<void> {
    const saved = await api.call(putBackupSettings, { body: bodyOf(values) })
    for (const name of ['passphrase', 's3', 'sftp'] as const)
      form.resetField(name, { defaultValue: noSecrets[name] })
    await storeReply(queries, backupsKey, saved)
    toast({ title: 'Backup settings saved.', tone: 'success' })
  }
  return (
    <Form form={form} onSubmit={save} label="Backup settings">
      <RepositorySection settings={settings} />
      <ScheduleSection isAvailable={settings.available || settings.enabled} />
      <FormError />
      <SaveRow form={form} />
    </Form>
  )
}

function RepositorySection({ settings }: { settings: BackupSettings }) {
  const repository: string = useWatch({ name: 'repository' })
  return (
    <Section
      title="Repository"
      description="Where the backups are stored. A folder on the disk of the platform is lost with that disk."
    >
      <TextField
        name="repository"
        label="Address"
        hint="A folder such as /mnt/safe/roost, s3:https://host/bucket/path or sftp:user@host:/path"
        spellCheck={false}
        autoComplete="off"
        mono
      />
      <TextField
        type="password"
        name="passphrase"
        label="Passphrase"
        hint={`At least 12 characters. Without it nobody can open the backup: store it separately. ${storedHint(settings.passphrase_set)}`}
        autoComplete="new-password"
      />
      {repository.startsWith('s3:') ? <S3Fields isSet={settings.s3_set} /> : null}
      {repository.startsWith('sftp:') ? <SftpFields isSet={settings.sftp_set} /> : null}
    </Section>
  )
}

function S3Fields({ isSet }: { isSet: boolean }) {
  return (
    <>
      <TextField
        name="s3.access_key_id"
        label="Access key ID"
        hint={storedHint(isSet)}
        autoComplete="off"
        spellCheck={false}
      />
      <TextField type="password" name="s3.secret_access_key" label="Secret access key" autoComplete="off" />
      <TextField name="s3.region" label="Region" hint="Optional" autoComplete="off" spellCheck={false} />
    </>
  )
}

function SftpFields({ isSet }: { isSet: boolean }) {
  return (
    <>
      <TextareaField
        name="sftp.private_key"
        label="Private key"
        hint={`The text of the file, without a passphrase. ${storedHint(isSet)}`}
        rows={4}
        spellCheck={false}
      />
      <TextareaField
        name="sftp.known_hosts"
        label="Known hosts"
        hint="The line of the host in a known_hosts file, such as from ssh-keyscan"
        rows={2}
        spellCheck={false}
      />
    </>
  )
}

function storedHint(isSet: boolean): string {
  return isSet ? 'Stored; leave empty to keep it.' : 'Not stored yet.'
}

function ScheduleSection({ isAvailable }: { isAvailable: boolean }) {
  const [verifies, removesOld] = useWatch({ name: ['verifies', 'removes_old'] })
  return (
    <Section
      title="Schedule and retention"
      description="A due time that was missed because the platform was off still runs within an hour."
    >
      <SwitchField
        name="enabled"
        label="Scheduled backups"
        hint={isAvailable ? undefined : 'Not available on this platform.'}
        disabled={!isAvailable}
      />
      <CronFields />
      <SwitchField
        name="verifies"
        label="Scheduled verification"
        hint="Restores the last backup into a scratch folder and compares it. It needs as much free space as the installation."
      />
      {verifies ? (
        <TextField
          name="verify_cron_expression"
          label="Cron expression of the verification"
          hint="In the same time zone"
          mono
          spellCheck={false}
          autoComplete="off"
        />
      ) : null}
      <SwitchField
        name="removes_old"
        label="Remove old backups"
        hint="Keeps the newest backup of each of these days, weeks and months."
      />
      {removesOld ? (
        <div className="grid gap-3 sm:grid-cols-3">
          <NumberField name="retention.daily" label="Days" min={0} max={9999} />
          <NumberField name="retention.weekly" label="Weeks" min={0} max={9999} />
          <NumberField name="retention.monthly" label="Months" min={0} max={9999} />
        </div>
      ) : null}
    </Section>
  )
}

function bodyOf(values: BackupFields): BackupSettingsBody {
  const { enabled, repository, passphrase, s3, sftp, cron_expression, timezone, retention } = values
  const hasSecrets = (group: Record<string, string>) => Object.values(group).some((text) => text !== '')
  return {
    ...{ enabled, cron_expression, timezone },
    ...(repository === '' ? {} : { repository }),
    ...(passphrase === '' ? {} : { passphrase }),
    ...(hasSecrets(s3) ? { s3: { ...s3, region: s3.region || null } } : {}),
    ...(hasSecrets(sftp) ? { sftp } : {}),
    verify_cron_expression: values.verifies ? values.verify_cron_expression : null,
    retention: values.removes_old ? retention : null,
  }
}
