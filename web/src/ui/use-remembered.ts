import { useState } from 'react'

/**
 * A choice of look that this browser keeps under a name; null keeps it for the page only. What cannot be read
 * or written (private windows, full storage) is no loss beyond the choice.
 */
export function useRemembered<Value>(name: string | null, initial: Value): [Value, (value: Value) => void] {
  const [value, setValue] = useState<Value>(() => (name === null ? initial : (read<Value>(name) ?? initial)))
  const change = (next: Value) => {
    setValue(next)
    if (name !== null) write(name, next)
  }
  return [value, change]
}

function read<Value>(name: string): Value | null {
  try {
    const text = localStorage.getItem(`roost:${name}`)
    // Written by `write` below for the same name, so it has the shape it was given.
    return text === null ? null : (JSON.parse(text) as Value)
  } catch {
    return null
  }
}

function write(name: string, value: unknown): void {
  try {
    localStorage.setItem(`roost:${name}`, JSON.stringify(value))
  } catch {
    // Kept for this page only.
  }
}
