import { putAutonomy, putMcpExposed, putOperatorResume } from '@roost/contracts/agents/settings'
import { useSuspenseQueries } from '@tanstack/react-query'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { Section } from '../../ui/section.tsx'
import { autonomyQuery, mcpExposedQuery, operatorResumeQuery } from './queries.ts'
import { SwitchRow } from './switch-row.tsx'
import { type SettingProps, useToggle } from './use-save.ts'

/** What the agent does by itself, and who else can call it. */
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
    said: ({ enabled }) => `Schedules of ${name} ${enabled ? 'fire' : 'do not fire'}.`,
  })
  const setResume = useToggle(queries[1].queryKey, agent, {
    save: (enabled) => api.call(putOperatorResume, { params: { name }, body: { enabled } }),
    shown: (enabled) => ({ enabled }),
    said: ({ enabled }) => `An answer ${enabled ? 'resumes' : 'does not resume'} the agent’s work.`,
  })
  const setExposed = useToggle(queries[2].queryKey, agent, {
    save: (enabled) => api.call(putMcpExposed, { params: { name }, body: { enabled } }),
    shown: (enabled) => ({ enabled }),
    said: ({ enabled, tool_name }) => (enabled ? `MCP clients see ${tool_name}.` : 'The tool is gone.'),
  })
  const { total_schedules: total, enabled_schedules: active } = autonomy.data
  return (
    <Section
      title="Operation"
      description="What it does by itself, and who can call it. Takes effect at once."
    >
      <SwitchRow
        label="Autonomy"
        hint={`The master switch of its schedules; each keeps its own. ${plural(total, 'schedule')}, ${active} of them on.`}
        checked={autonomy.data.enabled}
        onCheckedChange={(isOn) => setAutonomy.mutate(isOn)}
        disabled={!isOwner}
      />
      <SwitchRow
        label="Resume after an answer"
        hint="When an operator answers a question of this agent, a run with question and answer starts."
        checked={resume.data.enabled}
        onCheckedChange={(isOn) => setResume.mutate(isOn)}
        disabled={!isOwner}
      />
      <SwitchRow
        label="A tool of its own"
        hint={
          <>
            MCP clients can call it as <code className="break-all">{exposed.data.tool_name}</code>.
          </>
        }
        checked={exposed.data.enabled}
        onCheckedChange={(isOn) => setExposed.mutate(isOn)}
        disabled={!isOwner || agent.is_system}
      />
    </Section>
  )
}
