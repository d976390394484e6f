import type { NewConnectorKey } from '@roost/contracts/agents/connector'
import { useState } from 'react'
import type { z } from 'zod'
import { CodeBlock } from '../../ui/code-block.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { Segmented } from '../../ui/segmented.tsx'

export type MadeConnectorKey = z.output<typeof NewConnectorKey>

/** Shows the new key once, with the configuration of each client; null keeps it closed. */
export function ConnectorSecretDialog({
  newKey,
  onClose,
}: {
  newKey: MadeConnectorKey | null
  onClose: () => void
}) {
  const [client, setClient] = useState<string | null>(null)
  const shown = newKey?.snippets.find((snippet) => snippet.client === client) ?? newKey?.snippets[0]
  return (
    <SecretDialog
      title={`Connector key of ${newKey?.agent_name ?? ''}`}
      secrets={newKey ? [{ label: 'Key', value: newKey.key }] : null}
      onClose={onClose}
    >
      {newKey && shown && (
        <div className="flex min-w-0 flex-col gap-2">
          <Segmented
            label="Client"
            options={newKey.snippets.map((snippet) => ({ value: snippet.client, label: snippet.label }))}
            value={shown.client}
            onValueChange={setClient}
          />
          <CodeBlock
            language={shown.format === 'json' ? 'json' : 'sh'}
            title={shown.label}
            code={shown.content}
          />
        </div>
      )}
    </SecretDialog>
  )
}
