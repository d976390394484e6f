import type { Client } from '@roost/contracts/client'
import {
  type ChatShare,
  listSessionShares,
  revokeSessionShare,
  shareSession,
} from '@roost/contracts/conversations/chat-shares'
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query'
import { z } from 'zod'
import { describeFault } from '../../lib/fault.ts'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Form, TextField, useZodForm } from '../../ui/form.tsx'
import { SkeletonList } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { chatKeys } from './queries.ts'

const sharesQuery = (api: Client, name: string, id: string) =>
  queryOptions({
    queryKey: [...chatKeys.all(name), 'shares', id] as const,
    queryFn: ({ signal }) => api.call(listSessionShares, { params: { name, id }, signal }),
  })

type ShareDialogProps = { agentName: string; sessionId: string; onClose: () => void }

/** Shares one conversation with accounts, and lists and revokes its shares. */
export function ShareDialog({ agentName, sessionId, onClose }: ShareDialogProps) {
  const { api } = useApp()
  const shares = useQuery(sharesQuery(api, agentName, sessionId))
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Share conversation"
      description="A person signs in and opens the address. They need no access to the agent."
    >
      <ul className="mb-4 list-disc pl-5 text-muted text-sm">
        <li>
          They see your messages and the answers, also later ones, attached pictures, and the names of other
          files.
        </li>
        <li>They see the name and input of each tool call, and whether it succeeded.</li>
        <li>They do not see files, outputs of tools or costs, and they cannot send messages.</li>
      </ul>
      <NewShare agentName={agentName} sessionId={sessionId} />
      <h3 className="mt-5 mb-2 font-semibold text-sm">People with this conversation</h3>
      {shares.data ? (
        <ShareRows agentName={agentName} shares={shares.data} />
      ) : shares.error ? (
        <ErrorState
          title="Could not load the shares"
          error={shares.error}
          onRetry={() => void shares.refetch()}
        />
      ) : (
        <SkeletonList rows={2} label="Loading shares" />
      )}
    </Dialog>
  )
}

const NewShareBody = z.object({
  username: z.string().trim().min(1, 'Enter a user name or an e-mail address.').max(320),
})

function NewShare({ agentName, sessionId }: Omit<ShareDialogProps, 'onClose'>) {
  const { api, queries } = useApp()
  const form = useZodForm(NewShareBody, { defaultValues: { username: '' }, mode: 'onSubmit' })
  async function share(body: z.output<typeof NewShareBody>): Promise<void> {
    try {
      await api.call(shareSession, { params: { name: agentName, id: sessionId }, body })
    } catch (error) {
      // Only the person can be refused.
      form.setError('username', { message: describeFault(error).sentence }, { shouldFocus: true })
      return
    }
    form.reset()
    await queries.invalidateQueries({ queryKey: chatKeys.all(agentName) })
  }
  return (
    <Form form={form} onSubmit={share} label="Share this conversation" className="gap-3">
      <div className="flex flex-wrap items-start gap-2">
        <TextField
          name="username"
          label="Person"
          hint="User name or e-mail address of an account here."
          autoComplete="off"
          className="flex-1 basis-56"
        />
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting} className="mt-6.5">
          Share
        </Button>
      </div>
    </Form>
  )
}

function ShareRows({ agentName, shares }: { agentName: string; shares: readonly ChatShare[] }) {
  const { api, queries } = useApp()
  const revoke = useMutation({
    mutationFn: ({ id, session_id }: ChatShare) =>
      api.call(revokeSessionShare, { params: { name: agentName, id: session_id, share_id: id } }),
    onError: (error) => toast({ title: describeFault(error).sentence, tone: 'danger' }),
    onSettled: () => queries.invalidateQueries({ queryKey: chatKeys.all(agentName) }),
  })
  if (shares.length === 0) return <p className="text-muted text-sm">Only you can read this conversation.</p>
  return (
    <ul aria-label="Shares" className="divide-y divide-line rounded-lg border border-line">
      {shares.map((share) => (
        <li key={share.id} className="flex flex-wrap items-center gap-x-2 gap-y-1 px-3 py-2">
          <div className="min-w-0 flex-1 basis-48">
            <p className="truncate font-medium text-sm">{share.name ?? share.username}</p>
            <p className="flex min-w-0 flex-wrap gap-x-2 text-muted text-xs">
              <span className="truncate font-mono" title={share.url}>
                {share.url}
              </span>
              <span>
                shared <RelativeTime at={share.created_at} />
              </span>
            </p>
          </div>
          <CopyButton text={share.url} label={`Copy address for ${share.username}`} />
          <Button size="sm" variant="ghost" disabled={revoke.isPending} onClick={() => revoke.mutate(share)}>
            Revoke<span className="sr-only"> for {share.username}</span>
          </Button>
        </li>
      ))}
    </ul>
  )
}
