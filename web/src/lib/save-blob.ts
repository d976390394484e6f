/** Saves a blob as a download with the given name. */
export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // By the next task the browser holds its own reference.
  setTimeout(() => URL.revokeObjectURL(url))
}
