import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

const token = (name: string) => `var(--color-${name})`

const surface = EditorView.theme({
  '&': { color: token('ink'), backgroundColor: token('surface'), fontSize: 'var(--text-xs)', height: '100%' },
  // The surrounding box shows the focus: an outline here would hide below the line numbers.
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': {
    fontFamily: 'var(--font-mono)',
    fontVariantLigatures: 'none',
    lineHeight: '1.25rem',
    overflow: 'auto',
  },
  '.cm-content': { caretColor: token('ink'), padding: '8px 0' },
  '.cm-cursor': { borderLeftColor: token('ink') },
  '.cm-gutters': {
    backgroundColor: token('surface'),
    color: token('faint'),
    borderRight: `1px solid ${token('line')}`,
  },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 10px 0 12px' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: token('hover') },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: `color-mix(in oklab, ${token('accent')} 24%, transparent)`,
  },
  '.cm-selectionMatch': { backgroundColor: token('accent-soft') },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: token('accent-soft'),
    outline: `1px solid ${token('accent')}`,
  },
  '.cm-searchMatch': { backgroundColor: token('warning-soft'), outline: `1px solid ${token('warning')}` },
  '.cm-searchMatch-selected': { backgroundColor: token('accent'), color: token('accent-ink') },
  '.cm-searchMatch-selected *': { color: 'inherit' },
  '.cm-specialChar': { color: token('danger') },
  '.cm-panels': { backgroundColor: token('surface'), color: token('ink'), fontFamily: 'var(--font-sans)' },
  '.cm-panels.cm-panels-top': { borderBottom: `1px solid ${token('line')}` },
  '.cm-panel.cm-search': { padding: '8px 32px 8px 12px', fontSize: 'var(--text-xs)' },
  '.cm-panel.cm-search input[type=checkbox]': { margin: '0 4px 0 0', verticalAlign: 'middle' },
  '.cm-panel.cm-search label': { fontSize: 'var(--text-xs)', marginRight: '8px' },
  '.cm-panel.cm-search [name=close]': { color: token('muted'), fontSize: '16px', padding: '4px 8px' },
  '.cm-textfield': {
    backgroundColor: token('surface'),
    color: token('ink'),
    border: `1px solid ${token('control')}`,
    borderRadius: 'var(--radius-md)',
    fontSize: 'var(--text-xs)',
    padding: '3px 8px',
  },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: token('surface'),
    color: token('ink'),
    border: `1px solid ${token('line-strong')}`,
    borderRadius: 'var(--radius-md)',
    fontSize: 'var(--text-xs)',
    padding: '3px 10px',
  },
  '.cm-button:hover': { backgroundColor: token('hover') },
  '.cm-button:active': { backgroundImage: 'none', backgroundColor: token('sunken') },
})

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.tagName], color: token('accent') },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.inserted], color: token('success') },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.escape], color: token('warning') },
  { tag: [tags.propertyName, tags.attributeName, tags.definition(tags.variableName)], color: token('info') },
  { tag: [tags.typeName, tags.className, tags.namespace, tags.link, tags.url], color: token('info') },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: token('info') },
  { tag: tags.comment, color: token('faint'), fontStyle: 'italic' },
  { tag: [tags.meta, tags.processingInstruction], color: token('faint') },
  { tag: [tags.deleted, tags.invalid], color: token('danger') },
  { tag: tags.heading, color: token('ink'), fontWeight: '600' },
  { tag: tags.strong, fontWeight: '600' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strikethrough, textDecoration: 'line-through' },
])

/** The editor's colours and sizes as tokens, so that it follows the theme. */
export const editorTheme: Extension = [surface, syntaxHighlighting(colours)]
