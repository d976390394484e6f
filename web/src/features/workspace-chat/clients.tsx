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
import { complain } from './complain.ts'
import { clientsQuery } from './queries.ts'

/** Who uses an agent in the Workspace, as its owner sees it. */
export function Clients({ agent: { name } }: { agent: Pick<RosterAgent, 'name'> }) {
  const api = useApi()
  const clients = useQuery(clientsQuery(api, name))
  // Only people with an account own agents.
  const me = useQuery(meQuery(api))
  if (!clients.data) {
    if (!clients.error) return <SkeletonList rows={3} label="Loading the people" />
    return (
      <ErrorState
        title="The people could not be loaded"
        error={clients.error}
        onRetry={() => void clients.refetch()}
      />
    )
  }
  if (clients.data.length === 0) {
    return (
      <EmptyState
        icon={<UsersRound aria-hidden />}
        title="Nobody uses it yet"
        description="Share the agent with an address; its person then finds it here."
        action={
          <Link to="/agents/$name" params={{ name }} search={{ tab: 'sharing' }} className={buttonClass()}>
            Share it
          </Link>
        }
      />
    )
  }
  return (
    <ul aria-label="People" className="-mx-2 flex flex-col">
      {clients.data.map((client) => (
        <ClientRow key={client.email} name={name} client={client} mayBlock={me.data?.role === 'admin'} />
      ))}
    </ul>
  )
}

const acts = { logOut: logOutClient, block: blockClient, unblock: unblockClient } as const

const done = {
  logOut: 'is signed out of the Workspace.',
  block: 'is kept away from the agent.',
  unblock: 'may use the agent again.',
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
      toast({ title: `${email} ${done[act]}`, tone: 'success' })
    },
    onError: complain,
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
        trigger={<IconButton size="sm" label={`More for ${email}`} icon={<MoreHorizontal aria-hidden />} />}
        items={[
          {
            label: 'Sign out',
            hint: 'Ends what is open in the Workspace',
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
                  hint: 'Takes the agent and its deliveries away',
                  icon: <Ban aria-hidden />,
                  danger: true,
                  onSelect: () => change.mutate('block'),
                }),
        ]}
      />
    </li>
  )
}
