import { CircleHelp } from 'lucide-react'
import { Suspense, useEffect, useEffectEvent, useRef, useState } from 'react'
import { IconButton } from '../ui/button.tsx'
import { lazyPart } from '../ui/lazy-part.tsx'
import type { PageHelpProps } from './help-dialog.tsx'

const HelpDialog = lazyPart(async () => (await import('./help-dialog.tsx')).HelpDialog)

/** Asks the page that is shown to open its help. */
const helpRequest = 'roost:help'

export function requestPageHelp(): void {
  window.dispatchEvent(new Event(helpRequest))
}

/** The `?` of a page: its guide and the keyboard shortcuts. The key `?` opens it as well, except in fields. */
export function PageHelp(help: PageHelpProps) {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const openFrom = useEffectEvent(() => {
    // A page may have a second button for phones; the hidden one does not answer.
    if (!button.current?.checkVisibility()) return false
    setOpen(true)
    return true
  })
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== '?' || event.ctrlKey || event.metaKey || event.altKey) return
      if (!isElsewhere(event.target) && openFrom()) event.preventDefault()
    }
    const onRequest = () => void openFrom()
    window.addEventListener('keydown', onKeyDown)
    window.addEventListener(helpRequest, onRequest)
    return () => {
      window.removeEventListener('keydown', onKeyDown)
      window.removeEventListener(helpRequest, onRequest)
    }
  }, [])
  return (
    <>
      <IconButton
        ref={button}
        label="Help"
        size="sm"
        icon={<CircleHelp aria-hidden />}
        shortcut={['?']}
        aria-haspopup="dialog"
        aria-keyshortcuts="?"
        onClick={() => setOpen(true)}
      />
      {isOpen && (
        <Suspense fallback={null}>
          <HelpDialog {...help} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}

/** Text fields, the terminal and open dialogs get the key themselves. */
function isElsewhere(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  return (
    target.isContentEditable ||
    target.closest('input, textarea, select, [role=dialog], [role=menu], [role=listbox]') !== null
  )
}
