/* Keeps a library without C sources valid. */
typedef int cuzk_empty_translation_unit;
