export type ToastInput = {
  title: string
  description?: string
  tone?: 'neutral' | 'success' | 'warning' | 'danger' | 'info'
  action?: { label: string; onAction: () => void }
}

/** A closed message stays until its exit animation ends. */
export type ShownToast = ToastInput & { id: number; isOpen: boolean }

/** The visible messages, oldest first. Beyond `limit` the oldest are removed immediately. */
export function createToastQueue(limit = 4) {
  let shown: readonly ShownToast[] = []
  let nextId = 1
  const listeners = new Set<() => void>()
  const set = (next: readonly ShownToast[]) => {
    shown = next
    for (const listener of listeners) listener()
  }
  const close = (id: number) => set(shown.map((item) => (item.id === id ? { ...item, isOpen: false } : item)))
  return {
    /** Returns a function that closes the message. */
    add(input: ToastInput): () => void {
      const id = nextId++
      set([...shown, { ...input, id, isOpen: true }].slice(-limit))
      return () => close(id)
    },
    close,
    remove: (id: number) => set(shown.filter((item) => item.id !== id)),
    current: () => shown,
    subscribe(listener: () => void): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
