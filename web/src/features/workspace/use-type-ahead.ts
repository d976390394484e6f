import { type KeyboardEvent, useRef } from 'react'
import { type TreeRow, typeAhead } from './tree-rows.ts'

/** A pause this long begins another word. */
const pauseMs = 700

/**
 * Gathers what is typed into a word and says where the next row is that begins with it; `taken` where none does,
 * null for a key that types nothing.
 */
export function useTypeAhead() {
  const word = useRef({ text: '', at: 0 })
  return (event: KeyboardEvent, rows: readonly TreeRow[], from: number): number | 'taken' | null => {
    const { key, timeStamp: at } = event
    const isWord = at - word.current.at < pauseMs && word.current.text !== ''
    // A space is a key of its own unless a word has begun.
    if ([...key].length !== 1 || (key === ' ' && !isWord)) return null
    const text = (isWord ? word.current.text : '') + key
    word.current = { text, at }
    return typeAhead(rows, from, text) ?? 'taken'
  }
}
