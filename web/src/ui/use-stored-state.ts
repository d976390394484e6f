import { useState } from 'react'

/**
 * State that is stored in this browser under a name; null keeps it in memory only. Storage errors (private
 * windows, full storage) are ignored.
 */
export function useStoredState<Value>(name: string | null, initial: Value): [Value, (value: Value) => void] {
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
    // Written by `write` below for the same name, so it has the type `Value`.
    return text === null ? null : (JSON.parse(text) as Value)
  } catch {
    return null
  }
}

function write(name: string, value: unknown): void {
  try {
    localStorage.setItem(`roost:${name}`, JSON.stringify(value))
  } catch {
    // Kept in memory only.
  }
}
