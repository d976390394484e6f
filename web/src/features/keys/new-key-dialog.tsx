import type { NewKey } from '@roost/contracts/identity/keys'
import { CodeBlock } from '../../ui/code-block.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'

/** Shows the new key once; null keeps the dialog closed. */
export function NewKeyDialog({ newKey, onClose }: { newKey: NewKey | null; onClose: () => void }) {
  return (
    <SecretDialog
      title={`Key “${newKey?.name ?? ''}”`}
      secrets={newKey ? [{ label: 'Key', value: newKey.key }] : null}
      onClose={onClose}
    >
      <div className="flex min-w-0 flex-col gap-1.5 text-muted text-sm">
        <p>Send the key with each request, for example from an environment variable:</p>
        <CodeBlock language="sh" code={exampleOf(newKey?.scope, window.location.origin)} />
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
