import type { AgentGitTokenStatus } from '@roost/contracts/agents/git-repository'
import { SetGitToken } from '@roost/contracts/identity/git-token'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Form, FormError, TextField, useZodForm } from '../../ui/form.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useForgetToken, useSetToken } from './binding-actions.ts'
import { gitTokenQuery } from './queries.ts'

const sources: Record<AgentGitTokenStatus['source'], string> = {
  agent: 'A token of its own.',
  user: 'The token of its owner’s account.',
  platform: 'The platform’s token.',
  none: 'None: only what is open to everybody can be read, and nothing is pushed.',
}

/** With whose token the agent reads and writes its repository. */
export function TokenSection({ name }: { name: string }) {
  const token = useQuery(gitTokenQuery(useApi(), name))
  const [open, setOpen] = useState<'set' | 'forget' | null>(null)
  const forget = useForgetToken(name, () => setOpen(null))
  return (
    <Section
      title="Token"
      description="For the git host. It stays in the platform, is handed to git for each call, and is never shown again."
    >
      {token.data ? (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <p className="min-w-0 flex-1 basis-56 text-sm">{sources[token.data.source]}</p>
          <Button size="sm" onClick={() => setOpen('set')}>
            {token.data.configured ? 'Replace the token' : 'Set a token of its own'}
          </Button>
          {token.data.configured && (
            <Button size="sm" variant="ghost" onClick={() => setOpen('forget')}>
              Forget…
            </Button>
          )}
        </div>
      ) : token.error ? (
        <ErrorState error={token.error} onRetry={() => void token.refetch()} className="py-4" />
      ) : (
        <Skeleton className="h-8" />
      )}
      <Dialog
        open={open === 'set'}
        onOpenChange={() => setOpen(null)}
        title="A token of the agent’s own"
        description="The git host is asked about it before it is stored."
      >
        <TokenForm name={name} onDone={() => setOpen(null)} />
      </Dialog>
      <ConfirmDialog
        open={open === 'forget'}
        onOpenChange={() => setOpen(null)}
        title="Forget the agent’s own token?"
        description="From then on the token of its owner’s account is used, or the platform’s. This cannot be undone."
        action="Forget the token"
        pending={forget.isPending}
        onConfirm={() => forget.mutate()}
      />
    </Section>
  )
}

function TokenForm({ name, onDone }: { name: string; onDone: () => void }) {
  const set = useSetToken(name)
  const form = useZodForm(SetGitToken, { defaultValues: { pat: '' } })
  return (
    <Form
      form={form}
      label="A token"
      onSubmit={async (body) => {
        await set(body)
        onDone()
      }}
    >
      <TextField name="pat" label="Token" type="password" required autoFocus autoComplete="off" />
      <FormError />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" pending={form.formState.isSubmitting}>
          Check and store
        </Button>
      </div>
    </Form>
  )
}
