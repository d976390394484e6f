// Reads PDF files outside of the page, which stays usable whatever a file contains.
import 'pdfjs-dist/build/pdf.worker.min.mjs'
