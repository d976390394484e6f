import { type BackupSettings, runBackup, verifyBackup } from '@roost/contracts/operations/scheduled-backups'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { useApp } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { Section } from '../../ui/section.tsx'
import { ExactTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { BackupForm } from './backup-form.tsx'
import { backupsKey, backupsQuery } from './queries.ts'
import { Result } from './result.tsx'

/** The scheduled backups: last results, and where, when and how long. */
export function BackupsTab() {
  const { data } = useSuspenseQuery(backupsQuery(useApp().api))
  return (
    <>
      <Status settings={data} />
      <BackupForm settings={data} />
    </>
  )
}

function Status({ settings }: { settings: BackupSettings }) {
  const { available, unavailable_reason, running, last_backup, last_verification } = settings
  const isReady = available && settings.repository !== null && settings.passphrase_set
  return (
    <Section
      title="Backups"
      description="A backup holds the database, the encryption key, and the files of all agents. It is encrypted with a passphrase."
    >
      {available ? null : (
        <Banner
          tone="warning"
          title="The platform cannot back up by itself"
          action={
            <a
              href="/help/operate/backup"
              target="_blank"
              rel="noreferrer"
              className="text-accent underline underline-offset-2"
            >
              Guide: Back up and restore
            </a>
          }
        >
          {unavailable_reason} Back up from the host with the command line.
        </Banner>
      )}
      <KeyValues
        items={[
          { label: 'Last backup', value: <Result result={last_backup} none="No backup yet" /> },
          {
            label: 'Last verification',
            value: <Result result={last_verification} none="Not verified yet" />,
          },
          { label: 'Next backup', value: whenOf(settings.next_backup_at) },
          { label: 'Next verification', value: whenOf(settings.next_verification_at) },
        ]}
      />
      {last_backup?.reason ? (
        <Banner tone="danger" title="The last backup failed">
          {last_backup.reason}
        </Banner>
      ) : null}
      {last_verification?.reason ? (
        <Banner tone="danger" title="The last verification failed">
          {last_verification.reason}
        </Banner>
      ) : null}
      <div className="flex flex-wrap items-center gap-2">
        <StartButton
          endpoint={runBackup}
          label="Back up now"
          started="Backup started."
          {...{ isReady, running }}
        />
        <StartButton
          endpoint={verifyBackup}
          label="Verify now"
          started="Verification started."
          {...{ isReady: isReady && last_backup !== null, running }}
        />
        {running ? (
          <span role="status" className="text-muted text-sm">
            A backup or verification is running.
          </span>
        ) : null}
      </div>
    </Section>
  )
}

function whenOf(at: string | null) {
  return at === null ? 'Not scheduled' : <ExactTime at={at} />
}

type StartProps = {
  endpoint: typeof runBackup | typeof verifyBackup
  label: string
  started: string
  isReady: boolean
  running: boolean
}

function StartButton({ endpoint, label, started, isReady, running }: StartProps) {
  const { api, queries } = useApp()
  const start = useMutation({
    mutationFn: () => api.call(endpoint, {}),
    onSuccess: () => {
      toast({ title: started })
      return queries.invalidateQueries({ queryKey: backupsKey })
    },
    onError: (error) => toast({ title: error.message, tone: 'danger' }),
  })
  return (
    <Button pending={start.isPending} disabled={!isReady || running} onClick={() => start.mutate()}>
      {label}
    </Button>
  )
}
