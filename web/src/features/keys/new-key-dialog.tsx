import type { NewKey } from '@roost/contracts/identity/keys'
import { CodeBlock } from '../../ui/code-block.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'

/** The new key, shown once; null keeps it closed. */
export function NewKeyDialog({ made, onClose }: { made: NewKey | null; onClose: () => void }) {
  return (
    <SecretDialog
      title={`The key “${made?.name ?? ''}”`}
      secrets={made ? [{ label: 'Key', value: made.key }] : null}
      onClose={onClose}
    >
      <div className="flex min-w-0 flex-col gap-1.5 text-muted text-sm">
        <p>Send it with each request, for instance from an environment variable:</p>
        <CodeBlock language="sh" code={exampleOf(made?.scope, window.location.origin)} />
      </div>
    </SecretDialog>
  )
}

function exampleOf(scope: string | undefined, origin: string): string {
  const bearer = '-H "Authorization: Bearer $ROOST_KEY"'
  if (scope === 'ops') return `curl ${bearer} \\\n  ${origin}/api/executions/stats`
  if (scope !== 'portal_delegate') return `curl ${bearer} \\\n  ${origin}/api/agents`
  return `curl -X POST ${bearer} \\\n  ${origin}/api/enterprise/client-portal/auth/exchange`
}
