/** A file with its path inside the dropped or chosen folder; the path of a single file is its name. */
export type OfferedFile = { path: string; file: File }

/** The files of a file dialog, with their paths in a chosen folder. */
export function chosenFiles(files: Iterable<File>): OfferedFile[] {
  return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }))
}

/**
 * The files of a drop or paste, with those of dropped folders. Reads at most `max` files and one more. The transfer
 * is empty after its event, so call this synchronously.
 */
export async function transferredFiles(data: DataTransfer, max: number): Promise<OfferedFile[]> {
  const items = [...data.items].filter(({ kind }) => kind === 'file')
  const dropped = items.map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }))
  const found: OfferedFile[] = []
  for (const { entry, file } of dropped) {
    if (entry !== null && isFolder(entry)) await addFolder(entry, '', found, max)
    else if (file !== null) found.push({ path: file.name, file })
  }
  return found
}

async function addFolder(
  folder: FileSystemDirectoryEntry,
  above: string,
  found: OfferedFile[],
  max: number,
): Promise<void> {
  const path = `${above}${folder.name}/`
  for (const entry of await entriesOf(folder)) {
    if (found.length > max) return
    if (isFolder(entry)) await addFolder(entry, path, found, max)
    else if (isFile(entry)) found.push({ path: `${path}${entry.name}`, file: await fileOf(entry) })
  }
}

/** A reader returns the entries in portions; an empty one is the end. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const entries: FileSystemEntry[] = []
  for (;;) {
    const portion = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (portion.length === 0) return entries
    entries.push(...portion)
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}

function isFolder(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile
}
