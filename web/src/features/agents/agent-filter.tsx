import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { agentsQuery } from './queries.ts'

type AgentFilterProps = {
  /** undefined: any. */
  value: string | undefined
  onChange: (agent: string | undefined) => void
}

/** One of the agents that the person reaches, or all of them. */
export function AgentFilter({ value, onChange }: AgentFilterProps) {
  const agents = useQuery(agentsQuery(useApi()))
  return (
    <Combobox
      label="Agent"
      placeholder="Any agent"
      options={(agents.data ?? []).map(({ name, label }) => ({ value: name, label: label ?? name }))}
      value={value ?? null}
      onValueChange={(agent) => onChange(agent ?? undefined)}
      clearable
      className="w-full sm:w-44"
    />
  )
}
