import { X } from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import { cx } from './class-names.ts'
import { useFieldControl } from './field.tsx'
import { controlClass } from './input.tsx'

export type TagInputProps = {
  value: readonly string[]
  onValueChange: (value: string[]) => void
  placeholder?: string
  /** The accessible name when no surrounding `Field` provides one. */
  label?: string
  /** Normalizes a typed tag; null refuses it and leaves the text in the field. */
  accept?: (text: string) => string | null
  disabled?: boolean
  onBlur?: () => void
}

/** A set of short words: Enter, comma or blur adds one, Backspace in the empty field removes the last. */
export function TagInput(props: TagInputProps) {
  const { value, onValueChange, placeholder, label, accept = trimmed, disabled, onBlur } = props
  const wiring = useFieldControl()
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')

  const add = (typed: string) => {
    const tags = typed.split(',').map(accept)
    if (tags.includes(null) && typed.trim() !== '') return
    onValueChange([...new Set([...value, ...tags.filter((tag) => tag !== null)])])
    setText('')
  }
  const remove = (tag: string) => {
    onValueChange(value.filter((other) => other !== tag))
    input.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.key === 'Enter' || event.key === ',') && text.trim() !== '') {
      event.preventDefault()
      add(text)
    }
    const last = value.at(-1)
    if (event.key === 'Backspace' && text === '' && last !== undefined) remove(last)
  }
  return (
    <div
      className={cx(
        controlClass,
        'flex min-h-8 flex-wrap items-center gap-1 p-1 focus-within:border-focus focus-within:outline-1 focus-within:outline-focus',
      )}
    >
      {value.map((tag) => (
        <span key={tag} className="inline-flex h-6 max-w-full items-center rounded-sm bg-hover pl-2 text-xs">
          <span className="truncate">{tag}</span>
          <button
            type="button"
            aria-label={`Remove ${tag}`}
            disabled={disabled}
            onClick={() => remove(tag)}
            className="grid size-6 place-items-center rounded-sm text-muted hover:text-ink"
          >
            <X aria-hidden className="size-3" />
          </button>
        </span>
      ))}
      <input
        ref={input}
        {...wiring}
        aria-label={label}
        disabled={disabled}
        value={text}
        placeholder={value.length === 0 ? placeholder : undefined}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        onBlur={() => {
          if (text.trim() !== '') add(text)
          onBlur?.()
        }}
        className="h-6 min-w-24 flex-1 bg-transparent px-1.5 text-sm outline-none"
      />
    </div>
  )
}

function trimmed(text: string): string | null {
  return text.trim() || null
}
