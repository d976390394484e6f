import { type KeyboardEvent, useRef } from 'react'
import { type TreeRow, typeAhead } from './tree-rows.ts'

/** A longer pause starts a new word, in milliseconds. */
const pauseMs = 700

/**
 * Collects typed characters and returns the next matching row; `taken` without a match, null for keys that
 * type nothing.
 */
export function useTypeAhead() {
  const word = useRef({ text: '', at: 0 })
  return (event: KeyboardEvent, rows: readonly TreeRow[], from: number): number | 'taken' | null => {
    const { key, timeStamp: at } = event
    const isWord = at - word.current.at < pauseMs && word.current.text !== ''
    // Outside a word, a space is a command.
    if ([...key].length !== 1 || (key === ' ' && !isWord)) return null
    const text = (isWord ? word.current.text : '') + key
    word.current = { text, at }
    return typeAhead(rows, from, text) ?? 'taken'
  }
}
