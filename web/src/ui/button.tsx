import type { ComponentProps, MouseEvent, ReactNode } from 'react'
import { cx } from './class-names.ts'
import { Spinner } from './spinner.tsx'
import { Tooltip } from './tooltip.tsx'

export type ButtonVariant = 'primary' | 'secondary' | 'ghost' | 'danger'
export type ButtonSize = 'sm' | 'md'

export type ButtonProps = ComponentProps<'button'> & {
  variant?: ButtonVariant
  size?: ButtonSize
  /** A lucide icon, shown before the label. */
  icon?: ReactNode
  /** The action is running: the button keeps its width and focus and ignores clicks. */
  pending?: boolean
}

export function Button({
  variant = 'secondary',
  size = 'md',
  icon,
  pending = false,
  children,
  className,
  onClick,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      {...busy(pending)}
      onClick={pending ? refuse : onClick}
      className={buttonClass({ variant, size, className })}
    >
      {pending && (
        <span className="absolute inset-0 grid place-items-center">
          <Spinner />
        </span>
      )}
      <span className={cx('inline-flex min-w-0 items-center gap-1.5', pending && 'opacity-0')}>
        {icon}
        {children}
      </span>
    </button>
  )
}

export type IconButtonProps = Omit<ComponentProps<'button'>, 'children' | 'aria-label'> & {
  /** The accessible name, also shown as the tooltip. */
  label: string
  icon: ReactNode
  variant?: ButtonVariant
  size?: ButtonSize
  pending?: boolean
  /** Keys shown beside the tooltip's text, e.g. `['⌘', 'K']`. */
  shortcut?: string[]
}

export function IconButton({
  label,
  icon,
  variant = 'ghost',
  size = 'md',
  pending = false,
  shortcut,
  className,
  onClick,
  ...rest
}: IconButtonProps) {
  return (
    <Tooltip content={label} shortcut={shortcut}>
      <button
        type="button"
        {...rest}
        {...busy(pending)}
        aria-label={label}
        onClick={pending ? refuse : onClick}
        className={cx(base, variants[variant], size === 'sm' ? 'size-7' : 'size-8', className)}
      >
        {pending ? <Spinner /> : icon}
      </button>
    </Tooltip>
  )
}

/** The classes of a button for other elements, such as the router's links. */
export function buttonClass({
  variant = 'secondary',
  size = 'md',
  className,
}: {
  variant?: ButtonVariant
  size?: ButtonSize
  className?: string
} = {}): string {
  return cx(base, variants[variant], sizes[size], className)
}

const base =
  'relative inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap select-none transition-colors duration-100 disabled:pointer-events-none disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0'

const sizes: Record<ButtonSize, string> = {
  sm: 'h-7 px-2.5 text-xs',
  md: 'h-8 px-3 text-sm',
}

const variants: Record<ButtonVariant, string> = {
  primary: 'border-transparent bg-accent text-accent-ink shadow-xs hover:bg-accent-hover',
  secondary:
    'border-line-strong bg-raised text-ink shadow-xs hover:bg-hover data-[state=open]:bg-hover aria-pressed:bg-hover',
  ghost:
    'border-transparent text-muted hover:bg-hover hover:text-ink data-[state=open]:bg-hover data-[state=open]:text-ink aria-pressed:bg-hover aria-pressed:text-ink',
  danger: 'border-transparent bg-danger text-danger-ink shadow-xs hover:bg-danger-hover',
}

/** `aria-disabled` instead of `disabled` keeps the focus while the action runs. */
function busy(pending: boolean) {
  return pending ? ({ 'aria-busy': true, 'aria-disabled': true } as const) : {}
}

function refuse(event: MouseEvent): void {
  event.preventDefault()
  event.stopPropagation()
}
