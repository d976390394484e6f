import { putAutonomy, putMcpExposed, putOperatorResume } from '@roost/contracts/agents/settings'
import { useSuspenseQueries } from '@tanstack/react-query'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Section } from '../../ui/section.tsx'
import { autonomyQuery, mcpExposedQuery, operatorResumeQuery } from './queries.ts'
import { SwitchRow } from './switch-row.tsx'
import { type SettingProps, useToggle } from './use-save.ts'

export function OperationSection({ agent, isOwner }: SettingProps) {
  const api = useApi()
  const { name } = agent
  const queries = [
    autonomyQuery(api, name),
    operatorResumeQuery(api, name),
    mcpExposedQuery(api, name),
  ] as const
  const [autonomy, resume, exposed] = useSuspenseQueries({ queries })
  const setAutonomy = useToggle(queries[0].queryKey, agent, {
    save: (enabled) => api.call(putAutonomy, { params: { name }, body: { enabled } }),
    shown: (enabled) => ({ autonomy_enabled: enabled, enabled }),
    message: ({ enabled }) =>
      `Autonomy turned ${enabled ? 'on' : 'off'}. Schedules of ${name} ${enabled ? 'fire' : 'do not fire'}.`,
  })
  const setResume = useToggle(queries[1].queryKey, agent, {
    save: (enabled) => api.call(putOperatorResume, { params: { name }, body: { enabled } }),
    shown: (enabled) => ({ enabled }),
    message: ({ enabled }) => `Answers ${enabled ? 'start' : 'do not start'} a new run of the agent.`,
  })
  const setExposed = useToggle(queries[2].queryKey, agent, {
    save: (enabled) => api.call(putMcpExposed, { params: { name }, body: { enabled } }),
    shown: (enabled) => ({ enabled }),
    message: ({ enabled, tool_name }) =>
      enabled ? `MCP clients can now call ${tool_name}.` : 'The MCP tool was removed.',
  })
  const { total_schedules: total, enabled_schedules: active } = autonomy.data
  return (
    <Section title="Operation" description="Autonomy and exposure of the agent. Changes apply immediately.">
      <SwitchRow
        label="Autonomy"
        hint={`When off, no schedule of this agent fires. Each schedule keeps its own setting. ${plural(total, 'schedule')}, ${active} enabled.`}
        checked={autonomy.data.enabled}
        onCheckedChange={(isOn) => setAutonomy.mutate(isOn)}
        disabled={!isOwner}
      />
      <SwitchRow
        label="Resume after an answer"
        hint="When an operator answers a question of this agent, a run with the question and the answer starts."
        checked={resume.data.enabled}
        onCheckedChange={(isOn) => setResume.mutate(isOn)}
        disabled={!isOwner}
      />
      <SwitchRow
        label="Expose as MCP tool"
        hint={
          <>
            MCP clients can call the agent as <code className="break-all">{exposed.data.tool_name}</code>.
          </>
        }
        checked={exposed.data.enabled}
        onCheckedChange={(isOn) => setExposed.mutate(isOn)}
        disabled={!isOwner || agent.is_system}
      />
    </Section>
  )
}
