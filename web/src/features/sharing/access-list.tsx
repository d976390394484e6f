import type { ShareAccess } from '@roost/contracts/agents/agent'
import { type AgentAccess, changeShare, unshareAgent } from '@roost/contracts/agents/sharing'
import { describeFault } from '../../lib/fault.ts'
import { useApp } from '../../shell/app-context.ts'
import { AgentAvatar } from '../../ui/avatar.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/select.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { accessOptions } from './access-options.ts'
import { accessKey } from './queries.ts'

/** Everyone with access to the agent, the owner first. */
export function AccessList({ name, people }: { name: string; people: readonly AgentAccess[] }) {
  const { api, queries } = useApp()
  const { pending, later } = useUndo()
  const remove = (email: string) =>
    later({
      id: email,
      title: `No longer shared with ${email}.`,
      description: 'Their open connections to the agent are closed, and their agents can no longer call it.',
      run: async () => {
        await api
          .call(unshareAgent, { params: { name, email } })
          .catch((error) => toast({ title: describeFault(error).sentence, tone: 'danger' }))
        await queries.invalidateQueries({ queryKey: accessKey(name) })
      },
    })
  const change = async (email: string, access: ShareAccess) => {
    try {
      await api.call(changeShare, { params: { name, email }, body: { access } })
      toast({ title: `Changed what ${email} may do with files.`, tone: 'success' })
    } catch (error) {
      toast({ title: describeFault(error).sentence, tone: 'danger' })
    }
    await queries.invalidateQueries({ queryKey: accessKey(name) })
  }
  const shown = people.filter(({ email }) => email === null || !pending.has(email))
  return (
    <div>
      <ul
        className="divide-y divide-line rounded-lg border border-line bg-surface"
        aria-label="Users with access"
      >
        {shown.map((person) => (
          <PersonRow
            key={person.email ?? person.username}
            person={person}
            onChange={change}
            onRemove={remove}
          />
        ))}
      </ul>
      {shown.every(({ relation }) => relation === 'owner') && (
        <p className="mt-2 text-muted text-sm">
          This agent is not shared yet. Enter an e-mail address above to share it.
        </p>
      )}
    </div>
  )
}

function PersonRow({
  person,
  onChange,
  onRemove,
}: {
  person: AgentAccess
  onChange: (email: string, access: ShareAccess) => void
  onRemove: (email: string) => void
}) {
  const { email, username, relation, access, status } = person
  const title = email ?? username ?? 'somebody'
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-2 px-3 py-2.5">
      <AgentAvatar name={title} shape="person" />
      <div className="min-w-0 flex-1 basis-40">
        <p className="flex min-w-0 flex-wrap items-center gap-x-1.5 gap-y-0.5 text-sm">
          <span className="max-w-full truncate font-medium" title={title}>
            {title}
          </span>
          {relation === 'owner' && <Badge tone="accent">owner</Badge>}
          {status === 'pending' && <Badge>never signed in</Badge>}
        </p>
        <p className="text-muted text-xs">
          {person.last_active_at ? (
            <>
              last used <RelativeTime at={person.last_active_at} />
            </>
          ) : (
            'never used'
          )}
          {person.role && relation !== 'owner' && ` · ${person.role}`}
        </p>
      </div>
      {access !== 'owner' && email !== null && (
        <Select
          label={`Files for ${email}`}
          value={access}
          options={accessOptions}
          onValueChange={(chosen) => onChange(email, chosen)}
        />
      )}
      {relation === 'shared' && email !== null && (
        <Button size="sm" variant="ghost" aria-label={`Remove ${email}`} onClick={() => onRemove(email)}>
          Remove
        </Button>
      )}
    </li>
  )
}
