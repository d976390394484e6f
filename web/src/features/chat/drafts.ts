/** What was typed and not yet sent, by conversation, for as long as this tab of the browser lives. */
export type Drafts = {
  read(key: string): string
  write(key: string, text: string): void
}

const prefix = 'roost.draft.'

/** A storage that is full or switched off loses drafts and nothing else. */
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
        // Said above: the text still stands in the composer.
      }
    },
  }
}
