import { putAgentDefaultDisk } from '@roost/contracts/agents/disk'
import { z } from 'zod'
import { formatBytes } from '../../lib/format.ts'
import { storeReply } from '../../live/store-reply.ts'
import { useApp } from '../../shell/app-context.ts'
import { Form, FormError, NumberField, useZodForm } from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { toast } from '../../ui/toast.tsx'
import { QuotaGigabytes, quotaBytes, quotaGigabytes } from '../agents/disk-quota.ts'
import { settingKeys } from './queries.ts'

const DefaultForm = z.object({ gigabytes: QuotaGigabytes })

/** The disk quota of agents without their own. */
export function DiskDefaultSection({ quota_bytes }: { quota_bytes: number }) {
  const { api, queries } = useApp()
  const form = useZodForm(DefaultForm, { values: { gigabytes: quotaGigabytes(quota_bytes) } })
  async function save({ gigabytes }: z.output<typeof DefaultForm>): Promise<void> {
    const body = { quota_bytes: quotaBytes(gigabytes) }
    const saved = await api.call(putAgentDefaultDisk, { body })
    await storeReply(queries, settingKeys.disk, saved)
    const title =
      saved.quota_bytes === 0
        ? 'Default disk quota removed.'
        : `Default disk quota set to ${formatBytes(saved.quota_bytes)}.`
    toast({ title, tone: 'success' })
  }
  return (
    <Section
      title="Disk quota"
      description="The maximum disk usage of each agent without its own quota. At 80 % an alert is raised. At 100 % uploads are refused and new runs wait."
    >
      <Form form={form} onSubmit={save}>
        <FormError />
        <NumberField
          name="gigabytes"
          label="Default quota"
          unit="GB"
          hint="0 means unlimited. Minimum 0.01 GB."
          min={0}
          step="any"
          className="max-w-56"
        />
        <SaveRow form={form} />
      </Form>
    </Section>
  )
}
