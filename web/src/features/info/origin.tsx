import type { AgentDetails } from '@roost/contracts/agents/agent'
import { Link } from '@tanstack/react-router'
import { ExactTime } from '../../ui/time.tsx'

/** What an agent was forked from, also if that was deleted. */
export function Origin({ from }: { from: NonNullable<AgentDetails['forked_from']> }) {
  const { agent_name: name, can_open, record_at } = from
  return (
    <span>
      {can_open ? (
        <Link
          to="/agents/$name"
          params={{ name }}
          search={{ tab: 'history' }}
          className="text-accent underline"
        >
          {name}
        </Link>
      ) : (
        name
      )}{' '}
      as of <ExactTime at={record_at} />
    </span>
  )
}
