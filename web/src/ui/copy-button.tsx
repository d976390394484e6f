import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button, type ButtonSize, IconButton } from './button.tsx'

export type CopyButtonProps = {
  text: string
  /** The accessible name, e.g. `Copy key`. */
  label?: string
  /** Shows the label as text instead of an icon alone. */
  withText?: boolean
  size?: ButtonSize
  className?: string
}

export function CopyButton({
  text,
  label = 'Copy',
  withText = false,
  size = 'sm',
  className,
}: CopyButtonProps) {
  const [state, setState] = useState<'idle' | 'copied' | 'refused'>('idle')
  useEffect(() => {
    if (state === 'idle') return
    const timer = setTimeout(() => setState('idle'), 1600)
    return () => clearTimeout(timer)
  }, [state])
  const copy = () => {
    copyText(text).then(
      () => setState('copied'),
      () => setState('refused'),
    )
  }
  const icon = state === 'copied' ? <Check aria-hidden /> : <Copy aria-hidden />
  const words = { idle: label, copied: 'Copied', refused: 'Could not copy' }[state]
  return (
    <>
      {withText ? (
        <Button size={size} icon={icon} onClick={copy} className={className}>
          {words}
        </Button>
      ) : (
        <IconButton size={size} label={words} icon={icon} onClick={copy} className={className} />
      )}
      <span role="status" className="sr-only">
        {state === 'idle' ? '' : words}
      </span>
    </>
  )
}

/**
 * The clipboard API needs a secure origin. On plain HTTP the text can still be selected and copied by hand.
 */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.setAttribute('readonly', '')
  const host = document.activeElement?.closest('[role=dialog]') ?? document.body
  const before = document.activeElement
  host.append(area)
  area.select()
  const isDone = document.execCommand('copy')
  area.remove()
  if (before instanceof HTMLElement) before.focus()
  if (!isDone) throw new Error('The browser did not allow copying. Select the text and copy it manually.')
}
