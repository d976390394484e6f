import { type CanvasShare, revokeCanvasShare } from '@roost/contracts/conversations/canvas-shares'
import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { useUndo } from '../../ui/use-undo.ts'
import { canvasKey } from './queries.ts'

/** Active links; expired and revoked links are shown as a number only. */
export function ShareList({ name, shares }: { name: string; shares: readonly CanvasShare[] }) {
  const { api, queries } = useApp()
  const { pending, later } = useUndo()
  const now = new Date().toISOString()
  const isOpen = ({ revoked_at, expires_at }: CanvasShare) =>
    revoked_at === null && (expires_at === null || expires_at > now)
  const open = shares.filter((share) => isOpen(share) && !pending.has(share.id))
  const ended = shares.filter((share) => !isOpen(share)).length
  const end = ({ id }: CanvasShare) =>
    later({
      id,
      title: 'Link revoked.',
      run: async () => {
        await api
          .call(revokeCanvasShare, { params: { name, share_id: id } })
          .catch((error) => toast({ title: describeFault(error).sentence, tone: 'danger' }))
        await queries.invalidateQueries({ queryKey: canvasKey(name) })
      },
    })
  return (
    <>
      {open.length === 0 ? (
        <p className="text-muted text-sm">
          No links yet. Only people with access to the agent can view the canvas.
        </p>
      ) : (
        <ul aria-label="Links" className="divide-y divide-line rounded-lg border border-line">
          {open.map((share) => (
            <ShareRow key={share.id} share={share} onEnd={() => end(share)} />
          ))}
        </ul>
      )}
      {ended > 0 && <p className="mt-2 text-muted text-xs">{plural(ended, 'link')} expired or revoked.</p>}
    </>
  )
}

function ShareRow({ share, onEnd }: { share: CanvasShare; onEnd: () => void }) {
  const { url, scope, created_at, expires_at, view_count, last_viewed_at } = share
  return (
    <li className="flex flex-wrap items-center gap-x-2 gap-y-1 px-3 py-2">
      <div className="min-w-0 flex-1 basis-48">
        <p className="flex min-w-0 items-center gap-1.5">
          <Badge tone={scope === 'public' ? 'warning' : 'neutral'}>
            {scope === 'public' ? 'Anyone' : 'Signed in'}
          </Badge>
          <span className="truncate font-mono text-xs" title={url}>
            {url}
          </span>
        </p>
        <p className="mt-0.5 flex flex-wrap gap-x-2 text-muted text-xs">
          <span>
            created <RelativeTime at={created_at} />
          </span>
          <span>{view_count === 0 ? 'never opened' : plural(view_count, 'view')}</span>
          {last_viewed_at && (
            <span>
              last opened <RelativeTime at={last_viewed_at} />
            </span>
          )}
          {expires_at && (
            <span>
              expires <RelativeTime at={expires_at} />
            </span>
          )}
        </p>
      </div>
      <CopyButton text={url} label="Copy link" />
      <Button size="sm" variant="ghost" onClick={onEnd}>
        Revoke
      </Button>
    </li>
  )
}
