import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { bracketMatching, indentOnInput } from '@codemirror/language'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { useEffect, useRef, useState } from 'react'
import { cspNonce } from '../lib/csp.ts'
import { editorTheme } from './code-editor-theme.ts'
import { loadLanguage } from './code-languages.ts'
import { useLatest } from './use-latest.ts'

export type CodeEditorSurfaceProps = {
  value: string
  onChange?: (value: string) => void
  /** A language or a file extension. Unknown ones are not highlighted. */
  language?: string
  readOnly?: boolean
  /** The accessible name. */
  label: string
  /** Takes the focus on mount and when this becomes true. */
  autoFocus?: boolean
  /** Called on Ctrl-S and Cmd-S. */
  onSave?: () => void
}

/** The editor holds the text itself; `value` replaces it only when it changes from outside. */
export function CodeEditorSurface(props: CodeEditorSurfaceProps) {
  const { value, language = '', readOnly = false, autoFocus = false, label } = props
  const host = useRef<HTMLDivElement>(null)
  const latest = useLatest(props)
  const [view, setView] = useState<EditorView | null>(null)
  const [parts] = useState(() => ({ language: new Compartment(), access: new Compartment() }))

  useEffect(() => {
    if (!host.current) return
    const opened = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          ...basics,
          EditorView.cspNonce.of(cspNonce()),
          parts.language.of([]),
          parts.access.of(accessOf(latest.current)),
          keymap.of([{ key: 'Mod-s', preventDefault: true, run: () => save(latest.current) }]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange?.(update.state.doc.toString())
          }),
        ],
      }),
    })
    setView(opened)
    return () => opened.destroy()
  }, [latest, parts])

  useEffect(() => {
    if (!view || view.state.doc.toString() === value) return
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value } })
  }, [view, value])

  useEffect(() => {
    const access = accessOf({ label, readOnly })
    view?.dispatch({ effects: parts.access.reconfigure(access) })
  }, [view, parts, label, readOnly])

  useEffect(() => {
    if (autoFocus) view?.focus()
  }, [view, autoFocus])

  useEffect(() => {
    if (!view) return
    let isCurrent = true
    // Highlighting long texts is too slow. A failed grammar leaves the text without colours.
    const loaded = view.state.doc.length > longestColoured ? Promise.resolve(null) : loadLanguage(language)
    loaded.then(
      (found) => isCurrent && view.dispatch({ effects: parts.language.reconfigure(found ?? []) }),
      () => {},
    )
    return () => {
      isCurrent = false
    }
  }, [view, parts, language])

  return <div ref={host} className="h-full min-h-[inherit] [&>.cm-editor]:h-full" />
}

/** The accessible name and the read-only state. */
function accessOf({
  label,
  readOnly = false,
}: Pick<CodeEditorSurfaceProps, 'label' | 'readOnly'>): Extension {
  const names = EditorView.contentAttributes.of({
    tabindex: '0',
    'aria-label': label,
    'aria-readonly': String(readOnly),
  })
  return [names, EditorState.readOnly.of(readOnly)]
}

const longestColoured = 500_000

function save({ onSave }: CodeEditorSurfaceProps): boolean {
  onSave?.()
  return onSave !== undefined
}

/** Texts of the search panel, in sentence case. */
const phrases = {
  next: 'Next',
  previous: 'Previous',
  all: 'All',
  'match case': 'Match case',
  regexp: 'Regular expression',
  'by word': 'Whole word',
  replace: 'Replace',
  'replace all': 'Replace all',
}

const basics: Extension[] = [
  lineNumbers(),
  highlightSpecialChars(),
  history(),
  drawSelection(),
  indentOnInput(),
  bracketMatching(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  highlightSelectionMatches(),
  search({ top: true }),
  EditorState.phrases.of(phrases),
  EditorView.lineWrapping,
  keymap.of([...searchKeymap, ...historyKeymap, ...defaultKeymap, indentWithTab]),
  editorTheme,
]
