import { archiveEnd, type TarEntry, writeHeader } from '../../../../kit/tar.ts'

/** An archive of entries without content. */
export const tar = (entries: Partial<TarEntry>[], end: Buffer = archiveEnd) =>
  Buffer.concat([
    ...entries.map((entry) =>
      writeHeader({
        ...{ path: 'volume/x', type: 'file', link: '', size: 0, mode: 0o644, modified: 1 },
        ...entry,
      }),
    ),
    end,
  ])
