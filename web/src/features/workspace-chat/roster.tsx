import type { RosterAgent } from '@roost/contracts/conversations/workspace'
import { Link } from '@tanstack/react-router'
import { AgentAvatar } from '../../ui/avatar.tsx'
import { StatusDot } from '../../ui/badge.tsx'
import { cx } from '../../ui/class-names.ts'
import { LongList } from '../../ui/long-list.tsx'
import { ConversationLinks } from './conversation-links.tsx'
import { stateWords } from './state-words.ts'

type RosterProps = { agents: readonly RosterAgent[]; selected: string | null; chat: string | null }

/** The accessible agents, with the conversations of the selected one. */
export function Roster({ agents, selected, chat }: RosterProps) {
  const place = agents.findIndex(({ name }) => name === selected)
  return (
    <LongList items={agents} label="Agents" least={place + 1} className="flex flex-col gap-0.5">
      {(agent) => (
        <li key={agent.name}>
          <Link
            to="/workspace/a/$agent"
            params={{ agent: agent.name }}
            aria-current={agent.name === selected ? 'true' : undefined}
            className={cx(
              'flex min-w-0 items-center gap-2.5 rounded-md px-2 py-2 hover:bg-hover',
              agent.name === selected && 'bg-hover',
            )}
          >
            <AgentAvatar name={agent.name} />
            <span className="min-w-0 flex-1">
              <span className="block truncate font-medium text-sm">{agent.label ?? agent.name}</span>
              <span className="block text-muted text-xs">
                <StatusDot {...stateWords[agent.state]} />
              </span>
            </span>
            {agent.unread > 0 && (
              <span className="rounded-full bg-accent px-1.5 font-medium text-2xs text-accent-ink leading-4">
                {agent.unread}
                <span className="sr-only"> unread</span>
              </span>
            )}
          </Link>
          {agent.name === selected && <ConversationLinks name={agent.name} chat={chat} />}
        </li>
      )}
    </LongList>
  )
}
