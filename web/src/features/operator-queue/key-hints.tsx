import { Kbd } from '../../ui/kbd.tsx'

const hints = [
  { keys: ['j', 'k'], does: 'down, up' },
  { keys: ['1', '…', '9'], does: 'choose' },
  { keys: ['r'], does: 'write' },
  { keys: ['x'], does: 'dismiss' },
  { keys: ['m'], does: 'mark' },
]

/** The keys of the inbox, where there is a keyboard. */
export function KeyHints({ mayDismiss }: { mayDismiss: boolean }) {
  const shown = hints.filter(({ does }) => does !== 'dismiss' || mayDismiss)
  return (
    <ul
      aria-label="Keys"
      className="hidden flex-wrap items-center gap-x-3 gap-y-1 text-muted text-xs lg:flex"
    >
      {shown.map(({ keys, does }) => (
        <li key={does} className="flex items-center gap-1">
          <Kbd keys={keys} />
          {does}
        </li>
      ))}
    </ul>
  )
}
