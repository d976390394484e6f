import sanitizeHtml from 'sanitize-html'

const inlineTags = [
  ...[
    'a',
    'abbr',
    'b',
    'bdi',
    'bdo',
    'blockquote',
    'br',
    'cite',
    'code',
    'data',
    'del',
    'dfn',
    'em',
    'hr',
    'i',
  ],
  ...[
    'ins',
    'kbd',
    'mark',
    'p',
    'pre',
    'q',
    's',
    'samp',
    'small',
    'span',
    'strong',
    'sub',
    'sup',
    'time',
    'u',
  ],
  ...['var', 'wbr'],
]
const blockTags = [
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'div', 'section', 'article', 'aside', 'header', 'footer', 'main'],
  ...['ul', 'ol', 'li', 'dl', 'dt', 'dd', 'figure', 'figcaption', 'details', 'summary', 'meter', 'progress'],
  ...['table', 'caption', 'colgroup', 'col', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td', 'img'],
]

/**
 * Keeps HTML without active content: no scripts, styles, forms, frames, handlers, classes or ids. Images are data URLs,
 * because a canvas loads nothing from other servers. Links open web pages in a new tab.
 */
export function sanitise(html: string): string {
  return sanitizeHtml(html, {
    allowedTags: [...inlineTags, ...blockTags],
    allowedAttributes: {
      '*': ['title', 'lang', 'dir'],
      a: ['href', 'target', 'rel'],
      img: ['src', 'alt', 'width', 'height'],
      th: ['colspan', 'rowspan', 'scope', 'align'],
      td: ['colspan', 'rowspan', 'align'],
      col: ['span'],
      colgroup: ['span'],
      ol: ['start', 'reversed', 'type'],
      li: ['value'],
      time: ['datetime'],
      data: ['value'],
      details: ['open'],
      meter: ['value', 'min', 'max', 'low', 'high', 'optimum'],
      progress: ['value', 'max'],
    },
    allowedSchemes: ['https', 'http', 'mailto'],
    allowedSchemesByTag: { img: ['data'] },
    allowProtocolRelative: false,
    disallowedTagsMode: 'discard',
    enforceHtmlBoundary: false,
    transformTags: {
      a: (tagName, { href, title }) => ({
        tagName,
        attribs: {
          ...(title === undefined ? {} : { title }),
          ...(href === undefined ? {} : { href, target: '_blank', rel: 'noopener noreferrer' }),
        },
      }),
    },
    // Other data URLs are harmless here, but still removed.
    exclusiveFilter: ({ tag, attribs }) => tag === 'img' && !/^data:image\//i.test(attribs.src ?? ''),
  })
}
