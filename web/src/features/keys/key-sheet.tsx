import type { McpKey } from '@roost/contracts/identity/keys'
import { Link } from '@tanstack/react-router'
import { plural } from '../../lib/format.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Sheet } from '../../ui/dialog.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { ExactTime, RelativeTime } from '../../ui/time.tsx'
import type { KeyEnding } from './key-actions.ts'
import { KeyStateMark } from './key-columns.tsx'
import { ScopeFacts } from './scope-facts.tsx'
import { scopeWords } from './scopes.ts'

type KeySheetProps = {
  row: McpKey | null
  /** Admins get a link to the audit log. */
  isAdmin: boolean
  onClose: () => void
  end: (ending: KeyEnding) => void
}

/** One key with its owner, scope and usage. */
export function KeySheet({ row, isAdmin, onClose, end }: KeySheetProps) {
  return (
    <Sheet
      open={row !== null}
      onOpenChange={onClose}
      title={row?.name ?? ''}
      description={row?.description ?? undefined}
    >
      {row && (
        <div className="flex flex-col gap-5">
          <KeyValues
            items={[
              { label: 'Status', value: <KeyStateMark row={row} /> },
              row.revoked_at !== null && { label: 'Revoked', value: <RelativeTime at={row.revoked_at} /> },
              { label: 'Prefix', value: <code className="text-xs">{row.key_prefix}…</code> },
              { label: 'Owner', value: row.username },
              row.agent_name !== null && {
                label: 'Agent',
                value: (
                  <Link
                    to="/agents/$name"
                    params={{ name: row.agent_name }}
                    className="break-all text-accent hover:underline"
                  >
                    {row.agent_name}
                  </Link>
                ),
              },
              { label: 'Created', value: <RelativeTime at={row.created_at} /> },
              { label: 'Expires', value: row.expires_at ? <ExactTime at={row.expires_at} /> : 'never' },
              {
                label: 'Used',
                value: row.last_used_at ? (
                  <>
                    {plural(row.usage_count, 'time')}, last <RelativeTime at={row.last_used_at} />
                  </>
                ) : (
                  'never'
                ),
              },
            ]}
          />
          <section className="border-t pt-4">
            <h3 className="mb-1.5 font-medium text-sm">Scope: {scopeWords[row.scope].label}</h3>
            <ScopeFacts scope={row.scope} />
          </section>
          <div className="flex flex-wrap gap-2 border-t pt-4">
            {isAdmin && (
              <Link to="/audit" search={{ key: row.id }} className={buttonClass()}>
                View in audit log
              </Link>
            )}
            {row.is_active && <Button onClick={() => end({ how: 'revoke', key: row })}>Revoke…</Button>}
            <Button variant="danger" onClick={() => end({ how: 'delete', key: row })}>
              Delete…
            </Button>
          </div>
        </div>
      )}
    </Sheet>
  )
}
