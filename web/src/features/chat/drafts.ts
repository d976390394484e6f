/** Unsent text by conversation, for the lifetime of this browser tab. */
export type Drafts = {
  read(key: string): string
  write(key: string, text: string): void
}

const prefix = 'roost.draft.'

/** Errors of the storage (full or disabled) only lose drafts. */
export function createDrafts(storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>): Drafts {
  return {
    read(key) {
      try {
        return storage.getItem(prefix + key) ?? ''
      } catch {
        return ''
      }
    },
    write(key, text) {
      try {
        if (text === '') storage.removeItem(prefix + key)
        else storage.setItem(prefix + key, text)
      } catch {
        // See above: the text is still in the composer.
      }
    },
  }
}
