import type { NewConnectorKey } from '@roost/contracts/agents/connector'
import { useState } from 'react'
import type { z } from 'zod'
import { CodeBlock } from '../../ui/code-block.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { Segmented } from '../../ui/segmented.tsx'

export type MadeConnectorKey = z.output<typeof NewConnectorKey>

/** The new key with what to paste into which client, shown once; null keeps it closed. */
export function ConnectorSecretDialog({
  made,
  onClose,
}: {
  made: MadeConnectorKey | null
  onClose: () => void
}) {
  const [client, setClient] = useState<string | null>(null)
  const shown = made?.snippets.find((snippet) => snippet.client === client) ?? made?.snippets[0]
  return (
    <SecretDialog
      title={`A connector key of ${made?.agent_name ?? ''}`}
      secrets={made ? [{ label: 'Key', value: made.key }] : null}
      onClose={onClose}
    >
      {made && shown && (
        <div className="flex min-w-0 flex-col gap-2">
          <Segmented
            label="Client"
            options={made.snippets.map((snippet) => ({ value: snippet.client, label: snippet.label }))}
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
