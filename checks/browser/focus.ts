import type { Locator } from 'playwright-core'

/** Resolves when the element has the focus: a busy page moves it shortly after rendering. */
export function focusOn(target: Locator): Promise<void> {
  return target.and(target.page().locator(':focus')).waitFor()
}
