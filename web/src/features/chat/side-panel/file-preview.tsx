import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Download, Pencil } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../../../shell/app-context.ts'
import { buttonClass, IconButton } from '../../../ui/button.tsx'
import { Segmented } from '../../../ui/segmented.tsx'
import { ContentView } from '../../workspace/content-view.tsx'
import { FileMissing } from '../../workspace/file-missing.tsx'
import { formattedOf } from '../../workspace/formatted.ts'
import { nameOf, visibleName } from '../../workspace/paths.ts'
import { fileQuery } from '../../workspace/queries.ts'

type FilePreviewProps = {
  agentName: string
  path: string
  isDownloading: boolean
  onDownload: () => void
}

/** One file for reading. */
export function FilePreview({ agentName, path, isDownloading, onDownload }: FilePreviewProps) {
  const file = useQuery(fileQuery(useApi(), agentName, path))
  const [isSource, setSource] = useState(false)
  const formatted = file.data ? formattedOf(path, file.data) : null
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      <div className="flex min-h-11 shrink-0 flex-wrap items-center gap-1.5 border-b border-line py-1.5 pr-2 pl-4">
        <h3 className="min-w-0 flex-1 basis-32 truncate font-medium text-sm" title={visibleName(path)}>
          <bdi>{visibleName(nameOf(path))}</bdi>
        </h3>
        {formatted && (
          <Segmented
            size="sm"
            label="View"
            value={isSource ? 'source' : 'formatted'}
            onValueChange={(view) => setSource(view === 'source')}
            options={[
              { value: 'formatted', label: formatted.label },
              { value: 'source', label: 'Source' },
            ]}
          />
        )}
        <IconButton
          size="sm"
          label="Download file"
          icon={<Download aria-hidden />}
          pending={isDownloading}
          onClick={onDownload}
        />
        <Link
          to="/agents/$name"
          params={{ name: agentName }}
          search={{ tab: 'files', path }}
          aria-label="Open in the Files tab"
          title="Open in the Files tab"
          className={buttonClass({ variant: 'ghost', size: 'sm', className: 'px-1.5!' })}
        >
          <Pencil aria-hidden />
        </Link>
      </div>
      {file.data ? (
        <ContentView
          path={path}
          file={file.data}
          formatted={isSource ? null : formatted}
          onDownload={onDownload}
          onReplace={null}
        />
      ) : (
        <FileMissing path={path} error={file.error} onRetry={() => void file.refetch()} />
      )}
    </div>
  )
}
