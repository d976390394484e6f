import { getAgentDisk, putAgentDisk } from '@roost/contracts/agents/disk'
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import { z } from 'zod'
import { formatBytes } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Form, FormError, NumberField, useZodForm } from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { Section } from '../../ui/section.tsx'
import { DiskMeter } from '../agents/disk-meter.tsx'
import { QuotaGigabytes, quotaBytes, quotaGigabytes } from '../agents/disk-quota.ts'
import { meQuery } from '../users/queries.ts'
import { settingKey } from './queries.ts'
import { type SettingProps, useSave } from './use-save.ts'

const QuotaForm = z.object({ gigabytes: QuotaGigabytes.nullable() })
type QuotaForm = z.output<typeof QuotaForm>

/** Disk usage of the agent, and its quota, which admins can change. */
export function DiskSection({ agent }: Pick<SettingProps, 'agent'>) {
  const api = useApi()
  const { data: me } = useSuspenseQuery(meQuery(api))
  const isAdmin = me.role === 'admin'
  const queryKey = settingKey(agent.name, 'disk')
  const { data } = useSuspenseQuery(
    queryOptions({
      queryKey,
      queryFn: ({ signal }) => api.call(getAgentDisk, { params: { name: agent.name }, signal }),
    }),
  )
  const own = data.own_quota_bytes
  const form = useZodForm(QuotaForm, { values: { gigabytes: own === null ? null : quotaGigabytes(own) } })
  const save = useSave(queryKey, agent, {
    save: ({ gigabytes }: QuotaForm) =>
      api.call(putAgentDisk, {
        params: { name: agent.name },
        body: { quota_bytes: gigabytes === null ? null : quotaBytes(gigabytes) },
      }),
    message: ({ quota_bytes }) =>
      quota_bytes === 0 ? 'Disk quota removed.' : `Disk quota set to ${formatBytes(quota_bytes)}.`,
  })
  const fallback = data.default_quota_bytes
  return (
    <Section
      title="Disk"
      description="Space used by the workspace and the container. An alert is raised at 80 % of the quota. At 100 %, uploads are refused and new runs wait."
    >
      {data.state === 'full' ? (
        <Banner tone="danger" title="The disk quota is used up.">
          New runs wait until there is room. Delete files in the workspace
          {isAdmin ? ', or raise the quota.' : ', or ask an admin to raise the quota.'}
        </Banner>
      ) : null}
      <DiskMeter disk={data} />
      {isAdmin ? (
        <Form form={form} onSubmit={(body) => save(body).then(() => {})}>
          <FormError />
          <NumberField
            name="gigabytes"
            label="Quota"
            unit="GB"
            hint={`Leave empty for the default (${fallback === 0 ? 'unlimited' : formatBytes(fallback)}). 0 means unlimited. Minimum 0.01 GB.`}
            min={0}
            step="any"
            emptyAs="null"
            className="max-w-72"
          />
          <SaveRow form={form} />
        </Form>
      ) : null}
    </Section>
  )
}
