import { useQuery } from '@tanstack/react-query'
import { FileText, ImageOff } from 'lucide-react'
import { formatBytes } from '../../lib/format.ts'
import { useNear } from '../../ui/use-near.ts'
import { useObjectUrl } from '../../ui/use-object-url.ts'

/** Where the pictures of a conversation come from. `key` identifies the conversation. */
export type PictureSource = {
  key: readonly string[]
  open: (pictureId: string, signal?: AbortSignal) => Promise<Response>
}

export type StoredPictureProps = { source: PictureSource; pictureId: string; name: string; size: number }

/** A picture of a stored message; only its name when it is deleted. Loads near the screen. */
export function StoredPicture({ source, pictureId, name, size }: StoredPictureProps) {
  const { ref, isNear } = useNear<HTMLSpanElement>(false)
  const picture = useQuery({
    queryKey: [...source.key, pictureId],
    queryFn: async ({ signal }) => (await source.open(pictureId, signal)).blob(),
    enabled: isNear,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  if (picture.error) return <FileChip name={name} size={size} isMissing />
  return (
    <span ref={ref} className="block">
      {picture.data ? <LoadedPicture blob={picture.data} name={name} /> : <span className="block size-24" />}
    </span>
  )
}

function LoadedPicture({ blob, name }: { blob: Blob; name: string }) {
  const url = useObjectUrl(blob)
  if (url === null) return <span className="block size-24" />
  return <Picture url={url} name={name} />
}

export function Picture({ url, name }: { url: string; name: string | undefined }) {
  return <img src={url} alt={name} className="max-h-40 max-w-full rounded-md border border-line" />
}

export type FileChipProps = { name: string | undefined; size?: number | undefined; isMissing?: boolean }

export function FileChip({ name, size, isMissing = false }: FileChipProps) {
  const Icon = isMissing ? ImageOff : FileText
  return (
    <span className="inline-flex max-w-full items-center gap-1.5 rounded-md border border-line bg-sunken px-2 py-1 text-xs text-muted">
      <Icon aria-hidden className="size-3.5 shrink-0" />
      <span className="truncate">{name}</span>
      {size !== undefined && <span className="text-faint">{formatBytes(size)}</span>}
      {isMissing && <span>no longer stored</span>}
    </span>
  )
}
