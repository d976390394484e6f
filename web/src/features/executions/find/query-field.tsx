import { formatRunQuery, parseRunQuery, type QueryKey, type RunQuery } from '@roost/contracts/runs/run-query'
import { Search, X } from 'lucide-react'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { cx } from '../../../ui/class-names.ts'
import { controlClass } from '../../../ui/input.tsx'
import { useLatest } from '../../../ui/use-latest.ts'
import { type Completion, completed, completionsOf, type QueryValue } from './complete.ts'

type QueryFieldProps = {
  label: string
  /** The filter that is in effect. */
  query: RunQuery
  keys: readonly QueryKey[]
  valuesOf: (key: QueryKey) => readonly QueryValue[]
  /** A period that the page shows without a filter. */
  usualHours?: number
  onChange: (query: RunQuery) => void
  className?: string
}

/** The text as it was typed: for the filter `from`, which it changes to `to`. Others replace it. */
type Draft = { text: string; from: string; to: string }

/** Time without a key before the typed filter is applied, in milliseconds. */
const typingPaceMs = 300

/** A search field for the filter language. It shows the filter of the page, whichever control has set it. */
export function QueryField(props: QueryFieldProps) {
  const { label, query, keys, valuesOf, usualHours, onChange, className } = props
  const written = formatRunQuery(query)
  const [draft, setDraft] = useState<Draft | null>(null)
  const [caret, setCaret] = useState(0)
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const input = useRef<HTMLInputElement>(null)
  const id = useId()
  // The filter has arrived in the address.
  if (draft && draft.from !== draft.to && draft.to === written) setDraft({ ...draft, from: written })
  const text = draft && (draft.from === written || draft.to === written) ? draft.text : written
  const { problem } = parseRunQuery(text, keys)
  const found = completionsOf(text, caret, keys, valuesOf)
  const isListed = isOpen && found.options.length > 0
  // A word that can still be completed is not a mistake yet.
  const isWrong = problem !== null && !isListed

  const apply = (typed: string) => {
    const parsed = parseRunQuery(typed, keys)
    if (parsed.problem) return
    const { hours, ...rest } = parsed.query
    const query = hours === undefined || hours === usualHours ? rest : { ...rest, hours }
    const next = formatRunQuery(query)
    if (next === written) return
    setDraft({ text: typed, from: written, to: next })
    onChange(query)
  }
  const applyLatest = useLatest(apply)
  useEffect(() => {
    const timer = setTimeout(() => applyLatest.current(text), typingPaceMs)
    return () => clearTimeout(timer)
  }, [text, applyLatest])

  const type = (next: string, at: number) => {
    setDraft({ text: next, from: written, to: written })
    setCaret(at)
    setActive(-1)
    setOpen(true)
  }
  const choose = (option: Completion) => {
    const next = completed(text, found, option)
    type(next.text, next.caret)
    input.current?.focus()
    // The field has the new text after this render.
    requestAnimationFrame(() => input.current?.setSelectionRange(next.caret, next.caret))
  }
  const press = (event: KeyboardEvent) => {
    const count = found.options.length
    if (event.key === 'Escape' && isListed) {
      event.preventDefault()
      setOpen(false)
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && count > 0) {
      event.preventDefault()
      setOpen(true)
      const step = event.key === 'ArrowDown' ? 1 : -1
      setActive(active < 0 && step < 0 ? count - 1 : (active + step + count) % count)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      const option = isListed ? found.options[active] : undefined
      if (option) return choose(option)
      setOpen(false)
      apply(text)
    }
  }
  return (
    <div className={cx('relative min-w-0', className)}>
      <Search aria-hidden className="pointer-events-none absolute top-2 left-2.5 size-3.5 text-faint" />
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label={label}
        aria-autocomplete="list"
        aria-expanded={isListed}
        aria-controls={isListed ? `${id}-list` : undefined}
        aria-activedescendant={isListed && active >= 0 ? `${id}-${active}` : undefined}
        aria-invalid={isWrong || undefined}
        aria-describedby={isWrong ? `${id}-problem` : undefined}
        autoComplete="off"
        spellCheck={false}
        maxLength={1000}
        placeholder="Text, or filters such as status:failed cost:>0.5"
        value={text}
        onChange={({ target }) => type(target.value, target.selectionStart ?? target.value.length)}
        onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart ?? 0)}
        onClick={() => setOpen(true)}
        onKeyDown={press}
        onBlur={() => {
          setOpen(false)
          apply(text)
        }}
        className={cx(controlClass, 'h-8 w-full pr-8 pl-8')}
      />
      {text !== '' && (
        <button
          type="button"
          aria-label="Clear the filter text"
          onClick={() => {
            setDraft(null)
            onChange({})
            input.current?.focus()
          }}
          className="absolute top-1 right-1 grid size-6 place-items-center rounded-sm text-muted hover:bg-hover hover:text-ink"
        >
          <X aria-hidden className="size-3.5" />
        </button>
      )}
      {isListed && (
        <div
          role="listbox"
          id={`${id}-list`}
          aria-label="Suggestions"
          className="absolute top-9 left-0 z-float max-h-72 w-full min-w-56 overflow-y-auto rounded-lg border border-line bg-raised p-1 text-sm shadow-md"
        >
          {found.options.map((option, index) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the active option
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
            <div
              key={option.insert}
              role="option"
              id={`${id}-${index}`}
              aria-selected={index === active}
              // The field keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(option)}
              className={cx(
                'flex cursor-default flex-wrap items-baseline gap-x-3 rounded-sm px-2 py-1.5 hover:bg-hover',
                index === active && 'bg-hover',
              )}
            >
              <span className="font-mono text-xs">{option.label}</span>
              <span className="text-muted text-xs">{option.hint}</span>
            </div>
          ))}
        </div>
      )}
      {isWrong && (
        <p id={`${id}-problem`} role="alert" className="mt-1 text-danger text-xs [overflow-wrap:anywhere]">
          {problem.message}
        </p>
      )}
    </div>
  )
}
