import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { Combobox } from '../../ui/combobox.tsx'
import { agentsQuery } from './queries.ts'

type AgentFilterProps = {
  /** undefined: all agents. */
  value: string | undefined
  onChange: (agent: string | undefined) => void
}

/** A filter by one of the accessible agents. */
export function AgentFilter({ value, onChange }: AgentFilterProps) {
  const agents = useQuery(agentsQuery(useApi()))
  return (
    <Combobox
      label="Agent"
      placeholder="All agents"
      options={(agents.data ?? []).map(({ name, label }) => ({ value: name, label: label ?? name }))}
      value={value ?? null}
      onValueChange={(agent) => onChange(agent ?? undefined)}
      clearable
      className="w-full sm:w-44"
    />
  )
}
