import { Download, WrapText } from 'lucide-react'
import { Suspense, useMemo, useState } from 'react'
import { saveBlob } from '../lib/save-blob.ts'
import { IconButton } from './button.tsx'
import { cx } from './class-names.ts'
import { codeFileName } from './code-file-name.ts'
import { CopyButton } from './copy-button.tsx'
import { diffLines } from './diff-lines.ts'
import { DiffRows } from './diff-view.tsx'
import { lazyPart } from './lazy-part.tsx'
import { PlainText } from './plain-text.tsx'
import { ScrollRegion } from './scroll-region.tsx'

export type CodeBlockProps = {
  code: string
  /** A language name as after a code fence, e.g. `ts`. Unknown languages are not highlighted. */
  language?: string
  /** Replaces the language in the heading, e.g. with a file name. */
  title?: string
  /** More code will follow: it is highlighted once complete. */
  isStreaming?: boolean
  className?: string
}

/** Code with its language, a switch for long lines, and buttons that save and copy it. */
export function CodeBlock({ code, language = '', title, isStreaming = false, className }: CodeBlockProps) {
  const [isWrapped, setIsWrapped] = useState(false)
  const name = title ?? language
  const label = name ? `Code, ${name}` : 'Code'
  const isDiff = language === 'diff' || language === 'patch'
  const isLong = code.length > longestShown && !isDiff
  return (
    <div
      className={cx('group/code min-w-0 overflow-hidden rounded-md border border-line bg-sunken', className)}
    >
      <div className="flex h-8 items-center gap-1 border-b border-line pr-0.5 pl-3">
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-muted">{name || 'text'}</span>
        {!isLong && (
          <IconButton
            size="sm"
            label="Wrap long lines"
            aria-pressed={isWrapped}
            icon={<WrapText aria-hidden />}
            onClick={() => setIsWrapped(!isWrapped)}
          />
        )}
        <IconButton
          size="sm"
          label="Download code"
          icon={<Download aria-hidden />}
          onClick={() => saveBlob(new Blob([code], { type: 'text/plain' }), codeFileName(title, language))}
        />
        <CopyButton text={code} label="Copy code" />
      </div>
      {isDiff ? (
        <Diff code={code} label={label} isWrapped={isWrapped} />
      ) : isLong ? (
        <PlainText text={code} label={label} className="[&>div]:rounded-none [&>div]:border-0" />
      ) : (
        <ScrollRegion label={label} className={scroller}>
          <pre className={isWrapped ? 'whitespace-pre-wrap [overflow-wrap:anywhere]' : 'w-max min-w-full'}>
            <code>
              {isStreaming || !mayHighlight(code, language) ? (
                code
              ) : (
                <Suspense fallback={code}>
                  <HighlightedCode code={code} language={language} />
                </Suspense>
              )}
            </code>
          </pre>
        </ScrollRegion>
      )}
    </div>
  )
}

/** Colours and numbers each line by itself, so that a diff of any length has both. */
function Diff({ code, label, isWrapped }: { code: string; label: string; isWrapped: boolean }) {
  const lines = useMemo(() => diffLines(code), [code])
  return <DiffRows lines={lines} label={label} isWrapped={isWrapped} />
}

const HighlightedCode = lazyPart(
  async () => (await import('./highlighted-code.tsx')).HighlightedCode,
  ({ code }) => code,
)

const scroller =
  'max-h-[70vh] overflow-auto px-3 py-2.5 font-mono text-xs leading-5 [font-variant-ligatures:none] text-ink -outline-offset-2'

const longestShown = 100_000
/** In characters. Grammars are regular expressions, so their input is bounded. */
const longestHighlighted = 30_000
const longestLine = 3000

function mayHighlight(code: string, language: string): boolean {
  if (language === '' || code.length > longestHighlighted) return false
  return code.split('\n').every((line) => line.length <= longestLine)
}
