import { CircleAlert, CircleCheck, Info, TriangleAlert, X } from 'lucide-react'
import { Toast as Primitive } from 'radix-ui'
import { type ReactNode, useSyncExternalStore } from 'react'
import { cx } from './class-names.ts'
import { messageMs, undoMs } from './message-time.ts'
import { createToastQueue, type ShownToast, type ToastInput } from './toast-queue.ts'

/**
 * Shows a temporary message. With an action (usually Undo) it stays longer. Errors are announced immediately,
 * others when the screen reader is idle. Returns a function that closes it.
 */
export function toast(input: ToastInput): () => void {
  return queue.add(input)
}

/** Mounted once per page. F8 moves the focus to the messages. */
export function Toaster() {
  const toasts = useSyncExternalStore(queue.subscribe, queue.current)
  return (
    <Primitive.Provider label="Notification" swipeDirection="left">
      {toasts.map((item) => (
        <Message key={item.id} item={item} />
      ))}
      <Primitive.Viewport
        label="Notifications ({hotkey})"
        // Covers rarely clicked areas: the empty end of the sidebar, or the platform's name on phones.
        className="fixed top-0 left-0 z-toast flex max-h-dvh w-[calc(100%-6rem)] flex-col gap-2 p-1 pt-[max(0.25rem,env(safe-area-inset-top))] outline-none md:top-auto md:bottom-24 md:w-56 md:p-2"
      />
    </Primitive.Provider>
  )
}

function Message({ item }: { item: ShownToast }) {
  const { id, title, description, tone = 'neutral', action } = item
  return (
    <Primitive.Root
      open={item.isOpen}
      onOpenChange={(open) => !open && queue.close(id)}
      onAnimationEnd={() => !item.isOpen && queue.remove(id)}
      type={tone === 'danger' ? 'foreground' : 'background'}
      duration={action ? undoMs() : messageMs(tone === 'danger' ? 8 : 5)}
      className="[--slide-from:-24px] flex flex-wrap items-start gap-x-2 gap-y-1.5 rounded-lg border border-line bg-raised p-2.5 text-sm text-ink shadow-md data-[state=closed]:animate-slide-out data-[state=open]:animate-slide-in data-[swipe=move]:translate-x-(--radix-toast-swipe-move-x)"
    >
      {icons[tone]}
      <div className="min-w-0 flex-1 basis-24">
        <Primitive.Title className="font-medium">{title}</Primitive.Title>
        {description && (
          <Primitive.Description className="mt-0.5 text-xs break-words text-muted">
            {description}
          </Primitive.Description>
        )}
      </div>
      {action && (
        <Primitive.Action
          altText={action.label}
          onClick={action.onAction}
          className="-my-0.5 ml-auto h-6 shrink-0 rounded-sm px-2 text-xs font-medium text-accent hover:bg-accent-soft"
        >
          {action.label}
        </Primitive.Action>
      )}
      <Primitive.Close
        aria-label="Dismiss"
        className="-my-0.5 -mr-1 grid size-6 shrink-0 place-items-center rounded-sm text-faint hover:bg-hover hover:text-ink"
      >
        <X aria-hidden className="size-3.5" />
      </Primitive.Close>
    </Primitive.Root>
  )
}

// One queue per page, so that any handler can show a message without a context.
const queue = createToastQueue()

const icon = 'mt-0.5 size-4 shrink-0'
const icons: Record<NonNullable<ToastInput['tone']>, ReactNode> = {
  neutral: null,
  success: <CircleCheck aria-hidden className={cx(icon, 'text-success')} />,
  warning: <TriangleAlert aria-hidden className={cx(icon, 'text-warning')} />,
  danger: <CircleAlert aria-hidden className={cx(icon, 'text-danger')} />,
  info: <Info aria-hidden className={cx(icon, 'text-info')} />,
}
