import { Kbd } from '../../ui/kbd.tsx'

const hints = [
  { keys: ['j', 'k'], does: 'next, previous' },
  { keys: ['1', '…', '9'], does: 'choose option' },
  { keys: ['r'], does: 'answer' },
  { keys: ['x'], does: 'dismiss' },
  { keys: ['m'], does: 'select' },
]

/** The keyboard shortcuts of the inbox, for devices with a keyboard. */
export function KeyHints({ mayDismiss }: { mayDismiss: boolean }) {
  const shown = hints.filter(({ does }) => does !== 'dismiss' || mayDismiss)
  return (
    <ul
      aria-label="Keyboard shortcuts"
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
