import { Eye, EyeOff, Search, X } from 'lucide-react'
import { type ComponentProps, useRef, useState } from 'react'
import { cx } from './class-names.ts'
import { useFieldControl } from './field.tsx'

export type InputProps = ComponentProps<'input'> & { mono?: boolean }

export function Input({ className, mono, ...rest }: InputProps) {
  const wiring = useFieldControl()
  return (
    <input
      type="text"
      {...wiring}
      {...rest}
      className={cx(controlClass, 'h-8 px-2.5', mono && 'font-mono', className)}
    />
  )
}

export type TextareaProps = ComponentProps<'textarea'> & { mono?: boolean }

/** Grows with its text from `rows` up to half the window's height. */
export function Textarea({ className, mono, rows = 3, ...rest }: TextareaProps) {
  const wiring = useFieldControl()
  return (
    <textarea
      rows={rows}
      {...wiring}
      {...rest}
      className={cx(
        controlClass,
        'field-sizing-content max-h-[50vh] px-2.5 py-1.5 leading-5',
        mono && 'font-mono',
        className,
      )}
      style={{ minHeight: `calc(${rows} * 1.25rem + 0.875rem)`, ...rest.style }}
    />
  )
}

export type SearchInputProps = Omit<InputProps, 'value' | 'onChange' | 'type'> & {
  label: string
  value: string
  onValueChange: (value: string) => void
}

export function SearchInput({ label, value, onValueChange, className, ...rest }: SearchInputProps) {
  const input = useRef<HTMLInputElement>(null)
  const clear = () => {
    onValueChange('')
    input.current?.focus()
  }
  return (
    <div className={cx('relative min-w-0', className)}>
      <Search
        aria-hidden
        className="pointer-events-none absolute top-1/2 left-2.5 size-3.5 -translate-y-1/2 text-faint"
      />
      <input
        ref={input}
        type="search"
        aria-label={label}
        placeholder={label}
        {...rest}
        value={value}
        onChange={(event) => onValueChange(event.target.value)}
        className={cx(controlClass, 'h-8 w-full pr-8 pl-8 [&::-webkit-search-cancel-button]:hidden')}
      />
      {value !== '' && (
        <button type="button" aria-label="Clear" onClick={clear} className={endButtonClass}>
          <X aria-hidden className="size-3.5" />
        </button>
      )}
    </div>
  )
}

export type NumberInputProps = Omit<InputProps, 'value' | 'onChange' | 'type'> & {
  /** null: empty. */
  value: number | null
  onValueChange: (value: number | null) => void
  /** Shown after the number, e.g. `seconds`. */
  unit?: string
}

export function NumberInput({ value, onValueChange, unit, className, ...rest }: NumberInputProps) {
  const wiring = useFieldControl()
  return (
    <div className={cx('relative', className)}>
      <input
        type="number"
        inputMode="decimal"
        {...wiring}
        {...rest}
        value={value ?? ''}
        onChange={({ target }) => onValueChange(target.value === '' ? null : target.valueAsNumber)}
        className={cx(controlClass, 'h-8 w-full px-2.5 tabular-nums', unit && 'pr-20')}
      />
      {unit && (
        <span className="pointer-events-none absolute top-1/2 right-3 -translate-y-1/2 text-xs text-faint">
          {unit}
        </span>
      )}
    </div>
  )
}

export function PasswordInput({ className, ...rest }: Omit<InputProps, 'type'>) {
  const wiring = useFieldControl()
  const [isShown, setShown] = useState(false)
  return (
    <div className={cx('relative', className)}>
      <input
        {...wiring}
        {...rest}
        type={isShown ? 'text' : 'password'}
        className={cx(controlClass, 'h-8 w-full pr-9 pl-2.5', isShown && 'font-mono')}
      />
      <button
        type="button"
        aria-label={isShown ? 'Hide' : 'Show'}
        aria-pressed={isShown}
        onClick={() => setShown(!isShown)}
        className={endButtonClass}
      >
        {isShown ? <EyeOff aria-hidden className="size-3.5" /> : <Eye aria-hidden className="size-3.5" />}
      </button>
    </div>
  )
}

/** The style of all text inputs and selects. */
export const controlClass =
  'min-w-0 rounded-md border border-control bg-surface text-sm text-ink shadow-xs transition-colors duration-100 hover:border-muted focus-visible:border-focus focus-visible:outline-1 focus-visible:outline-offset-0 disabled:cursor-not-allowed disabled:border-line-strong disabled:bg-sunken disabled:text-muted disabled:shadow-none [&[readonly]]:border-line-strong [&[readonly]]:bg-sunken [&[readonly]]:shadow-none aria-invalid:border-danger aria-invalid:focus-visible:outline-danger'

const endButtonClass =
  'absolute top-1 right-1 grid size-6 place-items-center rounded-sm text-muted hover:bg-hover hover:text-ink'
