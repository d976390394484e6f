import {
  blockClient,
  type Client,
  logOutClient,
  type RosterAgent,
  unblockClient,
} from '@roost/contracts/conversations/workspace'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Ban, LogOut, MoreHorizontal, RotateCcw, UsersRound } from 'lucide-react'
import { plural } from '../../lib/format.ts'
import { storeReply } from '../../live/store-reply.ts'
import { useApi, useApp } from '../../shell/app-context.ts'
import { AgentAvatar } from '../../ui/avatar.tsx'
import { Badge } from '../../ui/badge.tsx'
import { buttonClass, IconButton } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Menu } from '../../ui/menu.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { meQuery } from '../users/queries.ts'
import { clientsQuery } from './queries.ts'
import { showFault } from './show-fault.ts'

/** The users of an agent in the Workspace, for its owner. */
export function Clients({ agent: { name } }: { agent: Pick<RosterAgent, 'name'> }) {
  const api = useApi()
  const clients = useQuery(clientsQuery(api, name))
  // Guests cannot own agents.
  const me = useQuery(meQuery(api))
  if (!clients.data) {
    if (!clients.error) return <SkeletonList rows={3} label="Loading users" />
    return (
      <ErrorState
        title="Could not load the users"
        error={clients.error}
        onRetry={() => void clients.refetch()}
      />
    )
  }
  if (clients.data.length === 0) {
    return (
      <EmptyState
        icon={<UsersRound aria-hidden />}
        title="No users yet"
        description="Share the agent with an e-mail address. The user then finds it in the Workspace."
        action={
          <Link to="/agents/$name" params={{ name }} search={{ tab: 'sharing' }} className={buttonClass()}>
            Share agent
          </Link>
        }
      />
    )
  }
  return (
    <ul aria-label="Users" className="-mx-2 flex flex-col">
      {clients.data.map((client) => (
        <ClientRow key={client.email} name={name} client={client} mayBlock={me.data?.role === 'admin'} />
      ))}
    </ul>
  )
}

const acts = { logOut: logOutClient, block: blockClient, unblock: unblockClient } as const

const outcomes = {
  logOut: 'was signed out of the Workspace.',
  block: 'was blocked.',
  unblock: 'was unblocked.',
} as const

function ClientRow({ name, client, mayBlock }: { name: string; client: Client; mayBlock: boolean }) {
  const { api, queries } = useApp()
  const { email, last_active_at, message_count, blocked } = client
  const change = useMutation({
    mutationFn: (act: keyof typeof acts) => api.call(acts[act], { params: { name, email } }),
    onSuccess: async (after, act) => {
      await storeReply<Client[]>(queries, clientsQuery(api, name).queryKey, (rows) =>
        rows?.map((row) => (row.email === email ? after : row)),
      )
      toast({ title: `${email} ${outcomes[act]}`, tone: 'success' })
    },
    onError: showFault,
  })
  return (
    <li className="flex items-center gap-2.5 rounded-md py-1.5 pr-1 pl-2 hover:bg-hover">
      <AgentAvatar name={email} shape="person" />
      <div className="min-w-0 flex-1">
        <p className="flex min-w-0 items-center gap-1.5 text-sm">
          <span className="truncate" title={email}>
            {email}
          </span>
          {blocked && <Badge tone="danger">blocked</Badge>}
        </p>
        <p className="text-muted text-xs">
          {plural(message_count, 'message')}
          {last_active_at !== null && (
            <>
              {' · '}
              <RelativeTime at={last_active_at} />
            </>
          )}
        </p>
      </div>
      <Menu
        trigger={
          <IconButton size="sm" label={`Actions for ${email}`} icon={<MoreHorizontal aria-hidden />} />
        }
        items={[
          {
            label: 'Sign out',
            hint: 'Ends all Workspace sessions',
            icon: <LogOut aria-hidden />,
            onSelect: () => change.mutate('logOut'),
          },
          mayBlock &&
            (blocked
              ? {
                  label: 'Unblock',
                  icon: <RotateCcw aria-hidden />,
                  onSelect: () => change.mutate('unblock'),
                }
              : {
                  label: 'Block',
                  hint: 'Revokes access to the agent and its deliveries',
                  icon: <Ban aria-hidden />,
                  danger: true,
                  onSelect: () => change.mutate('block'),
                }),
        ]}
      />
    </li>
  )
}
