import type { Locator } from 'playwright-core'

/** Resolves once the keyboard's words go there: a busy page moves the focus a moment after it has drawn. */
export function focusOn(target: Locator): Promise<void> {
  return target.and(target.page().locator(':focus')).waitFor()
}
