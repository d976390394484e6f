import { X } from 'lucide-react'
import { Dialog as Primitive } from 'radix-ui'
import type { ReactNode } from 'react'
import { cx } from './class-names.ts'
import { usePanelFocus } from './use-panel-focus.ts'

export type DialogProps = {
  open: boolean
  onOpenChange: (open: boolean) => void
  title: string
  description?: ReactNode
  children?: ReactNode
  /** The buttons, the primary one last. */
  footer?: ReactNode
  size?: 'sm' | 'md' | 'lg' | 'xl'
  /** Ignores Escape and clicks outside, for questions that need an answer. */
  insistent?: boolean
}

export function Dialog(props: DialogProps) {
  const { open, onOpenChange, title, description, children, footer, size = 'md', insistent = false } = props
  const focus = usePanelFocus(open)
  return (
    <Primitive.Root open={open} onOpenChange={onOpenChange}>
      <Primitive.Portal>
        <Primitive.Overlay className={overlayClass}>
          <Primitive.Content
            {...(description ? {} : { 'aria-describedby': undefined })}
            {...focus}
            {...(insistent ? { onEscapeKeyDown: refuse, onPointerDownOutside: refuse } : {})}
            className={cx(
              'relative my-auto flex max-h-full w-full animate-pop-in flex-col rounded-xl border border-line bg-raised shadow-lg outline-none',
              widths[size],
            )}
          >
            <Heading title={title} description={description} closable={!insistent} />
            {children && <div className={bodyClass}>{children}</div>}
            {footer && <Footer>{footer}</Footer>}
          </Primitive.Content>
        </Primitive.Overlay>
      </Primitive.Portal>
    </Primitive.Root>
  )
}

/** A panel at the right edge for details beside a list. Covers the whole screen of a phone. */
export function Sheet({
  open,
  onOpenChange,
  title,
  description,
  children,
  footer,
  size = 'md',
}: DialogProps) {
  const focus = usePanelFocus(open)
  return (
    <Primitive.Root open={open} onOpenChange={onOpenChange}>
      <Primitive.Portal>
        <Primitive.Overlay className="fixed inset-0 z-overlay animate-fade-in bg-overlay" />
        <Primitive.Content
          {...(description ? {} : { 'aria-describedby': undefined })}
          {...focus}
          className={cx(
            'fixed inset-y-0 right-0 z-overlay flex w-full animate-slide-in flex-col border-l border-line bg-raised shadow-lg outline-none',
            widths[size],
          )}
        >
          <Heading title={title} description={description} closable />
          <div className={cx('flex-1', bodyClass)}>{children}</div>
          {footer && <Footer>{footer}</Footer>}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  )
}

function Heading(props: { title: string; description?: ReactNode; closable: boolean }) {
  return (
    <header className="flex items-start gap-3 px-5 pt-4 pb-4">
      <div className="min-w-0 flex-1">
        <Primitive.Title className="text-lg font-semibold text-ink">{props.title}</Primitive.Title>
        {props.description && (
          <Primitive.Description asChild>
            <div className="mt-1 text-sm text-muted">{props.description}</div>
          </Primitive.Description>
        )}
      </div>
      {props.closable && (
        <Primitive.Close
          aria-label="Close"
          className="-mt-1 -mr-2 grid size-8 shrink-0 place-items-center rounded-md text-muted hover:bg-hover hover:text-ink"
        >
          <X aria-hidden className="size-4" />
        </Primitive.Close>
      )}
    </header>
  )
}

/**
 * The buttons of a form inside a dialog, the primary one last. They stay visible while the form scrolls, like
 * the footer of a dialog.
 */
export function DialogButtons({ children }: { children: ReactNode }) {
  return (
    <div className="sticky -bottom-5 z-sticky -mx-5 -mb-5 flex flex-wrap justify-end gap-2 rounded-b-xl border-t bg-raised px-5 py-3">
      {children}
    </div>
  )
}

function Footer({ children }: { children: ReactNode }) {
  return (
    <footer className="flex flex-wrap items-center justify-end gap-2 border-t px-5 py-3">{children}</footer>
  )
}

// Keyboard focus scrolls fields above the sticky buttons.
const bodyClass = 'min-h-0 scroll-pb-16 overflow-y-auto px-5 pb-5'

const overlayClass =
  'fixed inset-0 z-overlay flex animate-fade-in justify-center overflow-y-auto bg-overlay p-3 sm:p-6'

const widths = { sm: 'max-w-sm', md: 'max-w-lg', lg: 'max-w-2xl', xl: 'max-w-4xl' } as const

function refuse(event: Event): void {
  event.preventDefault()
}
