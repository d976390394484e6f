import type { NewConnectorKey } from '@roost/contracts/agents/connector'
import { useState } from 'react'
import type { z } from 'zod'
import { CodeBlock } from '../../ui/code-block.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { Segmented } from '../../ui/segmented.tsx'

export type MintedConnectorKey = z.output<typeof NewConnectorKey>

/** The new key with what to paste into which client, shown once; null keeps it closed. */
export function ConnectorSecretDialog({
  minted,
  onClose,
}: {
  minted: MintedConnectorKey | null
  onClose: () => void
}) {
  const [client, setClient] = useState<string | null>(null)
  const shown = minted?.snippets.find((snippet) => snippet.client === client) ?? minted?.snippets[0]
  return (
    <SecretDialog
      title={`A connector key of ${minted?.agent_name ?? ''}`}
      secrets={minted ? [{ label: 'Key', value: minted.key }] : null}
      onClose={onClose}
    >
      {minted && shown && (
        <div className="flex min-w-0 flex-col gap-2">
          <Segmented
            label="Client"
            options={minted.snippets.map((snippet) => ({ value: snippet.client, label: snippet.label }))}
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
