import { putIsolation } from '@roost/contracts/agents/isolation'
import { useSuspenseQueries, useSuspenseQuery } from '@tanstack/react-query'
import { z } from 'zod'
import { useApi } from '../../shell/app-context.ts'
import { Form, FormError, SelectField, useZodForm } from '../../ui/form.tsx'
import { SaveRow } from '../../ui/save-row.tsx'
import { meQuery } from '../users/queries.ts'
import { isolationQuery } from './queries.ts'
import { type SettingProps, useSave } from './use-save.ts'

const hints: Record<string, string> = { runsc: 'gVisor: own kernel', kata: 'Own kernel in a virtual machine' }
/** The form's value for the runtime of the installation; no runtime has a name with a space. */
const inherited = 'of the installation'

/** The OCI runtime of the container. Admins change it, everybody else reads it. */
export function IsolationForm({ agent }: SettingProps) {
  const api = useApi()
  const { data: me } = useSuspenseQuery(meQuery(api))
  const query = isolationQuery(api, agent.name)
  const [{ data }] = useSuspenseQueries({ queries: [query] })
  const schema = z.object({ runtime: z.string() })
  const form = useZodForm(schema, { values: { runtime: data.runtime ?? inherited } })
  const save = useSave(query.queryKey, agent, {
    save: ({ runtime }: z.output<typeof schema>) =>
      api.call(putIsolation, {
        params: { name: agent.name },
        body: { runtime: runtime === inherited ? null : runtime },
      }),
    message: ({ effective_runtime, restart_needed }) =>
      restart_needed
        ? `Isolation saved. ${effective_runtime} is used after the next start.`
        : 'Isolation saved.',
  })
  const isAdmin = me.role === 'admin'
  const hasRuntimes = data.installation_runtime !== null
  const stored = data.runtime === null || data.available_runtimes.includes(data.runtime) ? [] : [data.runtime]
  const options = [
    {
      value: inherited,
      label: hasRuntimes ? `Default (${data.installation_runtime})` : 'None: this engine has no OCI runtimes',
    },
    ...data.available_runtimes.map((value) => ({ value, label: value, hint: hints[value] })),
    ...stored.map((value) => ({ value, label: value, hint: 'Not available', disabled: true })),
  ]
  return (
    <Form form={form} label="Isolation" onSubmit={(body) => save(body).then(() => {})}>
      <FormError />
      <SelectField
        name="runtime"
        label="OCI runtime"
        hint={
          isAdmin
            ? 'Isolates the container from the host. It cannot be weaker than the default of this installation.'
            : 'Isolates the container from the host. Only admins can change it.'
        }
        options={options}
        disabled={!isAdmin || !hasRuntimes}
      />
      {isAdmin && hasRuntimes ? <SaveRow form={form} /> : null}
    </Form>
  )
}
